INSERT INTO main."readers" VALUES (1, NULL);
INSERT INTO books VALUES (1, 'Emma');
INSERT INTO loans VALUES (1, 1, 1);
INSERT INTO returns VALUES (1);
