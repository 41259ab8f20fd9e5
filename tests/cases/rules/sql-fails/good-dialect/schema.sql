CREATE SCHEMA desk;

CREATE TYPE desk.kind AS ENUM ('child', 'adult');

CREATE TABLE desk.loans (
  id SERIAL PRIMARY KEY,
  reader VARCHAR(80) NOT NULL, -- first name
  kind desk.kind DEFAULT 'adult',
  due DATE NOT NULL,
  fee NUMERIC(6, 2) CHECK (fee >= 0),
  noted TIMESTAMPTZ DEFAULT now()
);

COMMENT ON TABLE desk.loans IS 'One row a loan';
ALTER TABLE desk.loans OWNER TO desk;
