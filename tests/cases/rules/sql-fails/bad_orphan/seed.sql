INSERT INTO readers VALUES (1, 'Maja');
INSERT INTO books VALUES (1, 'Emma');
INSERT INTO loans VALUES (1, 1, 2);
INSERT INTO readers VALUES (1, 'Oskar');
