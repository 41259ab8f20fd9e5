INSERT INTO orders VALUES (1), (2);
