CREATE TABEL books (id INTEGER PRIMARY KEY, title TEXT);
CREATE INDEX by_title ON books (title);
CREATE VIEW titles AS SELECT title FROM books;
CREATE TRIGGER kept AFTER INSERT ON books BEGIN SELECT 1; END;
INSERT INTO main.books VALUES (1, 'Emma');

CREATE TABLE "readers" (name TEXT, since TEXT,);
CREATE INDEX by_name ON readers (name);

CREATE TABLE a (id) CREATE TABLE b (id);
INSERT INTO a VALUES (1);
INSERT INTO b VALUES (1);

ATTACH 'other.db' AS other;
CREATE TABLE other.loans (due TEXT);
INSERT INTO loans VALUES ('2025-03-01');

INSERT INTO bokos VALUES (1, 'Emma');
