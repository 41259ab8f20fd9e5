-- Loans and their readers.
CREATE TABLE loans (
  id INTEGER PRIMARY KEY,
  reader TEXT NOT NULL,
  due TEXT NOT NULL
);
CREATE TABEL readers (name TEXT);
CREATE INDEX by_due ON loan (due);
