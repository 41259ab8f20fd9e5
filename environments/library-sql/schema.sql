-- The lending desk of a city library with three branches.
CREATE TABLE authors (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  born    INTEGER,               -- year
  country TEXT NOT NULL          -- ISO 3166 alpha-2
);

CREATE TABLE books (
  id              INTEGER PRIMARY KEY,
  title           TEXT NOT NULL,
  author_id       INTEGER NOT NULL REFERENCES authors (id),
  first_published INTEGER NOT NULL,  -- year
  genre           TEXT NOT NULL,
  language        TEXT NOT NULL      -- of the original, ISO 639-1
);

CREATE TABLE copies (
  id          INTEGER PRIMARY KEY,
  book_id     INTEGER NOT NULL REFERENCES books (id),
  branch      TEXT NOT NULL CHECK (branch IN ('Altstadt', 'Hafen', 'Weinberg')),
  condition   TEXT CHECK (condition IN ('new', 'good', 'worn')),
  acquired_on TEXT NOT NULL,         -- ISO date
  price       REAL NOT NULL          -- euros, when it was bought
);

CREATE TABLE members (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('child', 'student', 'adult', 'senior')),
  joined_on   TEXT NOT NULL,         -- ISO date
  home_branch TEXT
);

CREATE TABLE loans (
  id          INTEGER PRIMARY KEY,
  copy_id     INTEGER NOT NULL REFERENCES copies (id),
  member_id   INTEGER NOT NULL REFERENCES members (id),
  lent_on     TEXT NOT NULL,         -- ISO date
  due_on      TEXT NOT NULL,         -- ISO date, 28 days later
  returned_on TEXT,                  -- NULL while the copy is out
  late_fee    REAL                   -- euros, 0.20 a day after due_on; NULL while the copy is out
);

CREATE INDEX loans_by_copy ON loans (copy_id);
CREATE INDEX loans_by_member ON loans (member_id);
