INSERT INTO ferries VALUES (1, 'Eider', 120), (2, 'Kittiwake', 80), (3, 'Tern', 40);
INSERT INTO crossings VALUES
  (1, 1, '2025-06-01', 119, 1428.00, NULL),
  (2, 1, '2025-06-02', 64, 768.00, NULL),
  (3, 2, '2025-06-01', 80, 880.00, NULL),
  (4, 2, '2025-06-02', 51, 561.00, NULL),
  (5, 3, '2025-06-02', 12, 126.50, NULL);
