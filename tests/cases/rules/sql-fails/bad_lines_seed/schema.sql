CREATE TABLE loans (id INTEGER PRIMARY KEY, reader TEXT NOT NULL, above INTEGER REFERENCES loans (id));
PRAGMA foreign_keys = ON;
