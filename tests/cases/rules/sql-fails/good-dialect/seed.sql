INSERT INTO desk.loans (reader, due, fee) VALUES ('Maja', '2025-03-02', 1.20), ('Oskar', '2025-03-09'::date, NULL);
