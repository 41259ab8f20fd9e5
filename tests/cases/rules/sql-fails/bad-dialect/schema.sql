CREATE TABLE loans (
  id SERIAL PRIMARY KEY,
  readers TEXT[] NOT NULL,
  due DATE NOT NULL,
  length INTERVAL
);

CREATE FUNCTION late(due DATE) RETURNS boolean AS $$ SELECT due < now() $$ LANGUAGE sql;

CREATE VIEW late_loans AS SELECT id FROM loans WHERE due ~ '^2024';
