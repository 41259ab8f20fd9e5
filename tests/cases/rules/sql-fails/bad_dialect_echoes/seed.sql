INSERT INTO loans VALUES (1, '{Maja}', '2025-03-02');
