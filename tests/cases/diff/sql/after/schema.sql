CREATE TABLE ferries (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  seats INTEGER NOT NULL
);
CREATE TABLE crossings (
  id INTEGER PRIMARY KEY,
  ferry_id INTEGER NOT NULL REFERENCES ferries (id),
  day TEXT NOT NULL,
  passengers INTEGER NOT NULL,
  fares REAL NOT NULL,
  weather TEXT
);
CREATE TABLE harbours (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
