CREATE TABLE loans (id int due date;
ALTER TABLE loans ADD CONSTRAINT loans_key PRIMARY KEY (id);

CREATE TYPE kind AS RANGE (subtype = date);
CREATE TABLE readers (name text, kind kind, length interval);
ALTER TABLE reders ADD CONSTRAINT readers_key PRIMARY KEY (name);
