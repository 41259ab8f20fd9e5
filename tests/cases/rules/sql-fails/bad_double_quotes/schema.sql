CREATE TABLE "loans" (
  "id" INTEGER PRIMARY KEY,
  reader TEXT NOT NULL,
  due TEXT NOT NULL CHECK ("deu" > '2025')
);
CREATE VIEW late AS SELECT "id", "raeder" FROM loans WHERE due < '2025-03-05';
CREATE VIEW later AS SELECT count(*) AS number FROM late WHERE "id" > 1;
CREATE TRIGGER on_return AFTER DELETE ON loans BEGIN
  INSERT INTO loans (reader, due) VALUES (old."reader", "never");
END;
CREATE INDEX by_reader ON loans ("readr");
