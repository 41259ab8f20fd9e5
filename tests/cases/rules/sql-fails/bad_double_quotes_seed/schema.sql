CREATE TABLE "loans" (
  "id" INTEGER PRIMARY KEY,
  "the ""reader""" TEXT NOT NULL,
  "kind`" TEXT COLLATE "nocase",
  due TEXT NOT NULL DEFAULT "soon" CHECK ("due" > '2025')
);
CREATE VIEW late AS SELECT "id" AS "number" FROM "loans" AS "l" WHERE "l"."due" < '2025-03-05 "or so"';
CREATE TRIGGER on_return AFTER DELETE ON loans BEGIN
  INSERT INTO loans ("the ""reader""", due) VALUES (old."the ""reader""", 'never');
END;
CREATE VIRTUAL TABLE notes USING fts5(body, tokenize = "porter");
