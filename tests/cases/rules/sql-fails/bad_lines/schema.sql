CREATE TABLE reader (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- NUL is no word
  note TEXT DEFAULT 'NUL',
  town TEXT NOT NUL,
  street TEXT NOT NULL
);
CREATE TABLE book (
  id INTEGER PRIMARY KEY,
  title TEXT,
  title TEXT
);
CREATE TABLE copy (
  id INTEGER PRIMARY KEY,
  book INTEGER,
  FOREIGN KEY (bok) REFERENCES book (id)
);
CREATE TABLE loans (
  id INTEGER PRIMARY KEY,
  day TEXT
);
CREATE VIEW late AS
SELECT id
FROM loans
WHERE day < '2024' AND AND id > 1;
CREATE INDEX days
  ON loans (id, dai);
CREATE TABLE last (
  id INTEGER,
