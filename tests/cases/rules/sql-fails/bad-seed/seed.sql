INSERT INTO loans VALUES (1, 'Maja', '2025-03-02');
INSERT INTO loans VALUES (1, 'Oskar', '2025-03-09');
INSERT INTO loans VALUES (3, 'Liv');
ATTACH DATABASE '/tmp/other.db' AS other;
