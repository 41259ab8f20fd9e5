INSERT INTO loans
  (id, reader,
   abov)
VALUES (1, 'abov', NULL);
INSERT INTO loans (id, reader, above)
VALUES
  (1, 'Maja', 2),
  (2, 'Ove (2), ''Lin''', NULL),
  (3, 'Lin', NULL),
  (2, 'Per', NULL),
  (4, NULL, NULL);
INSERT INTO loans (id, reader, above) VALUES
  (11, 'Maja', 12),
  (12, 'Ove', NULL),
  (13, 'Lin', 14),
  (15, 'Per', NULL);
INSERT INTO loans VALUES
  (21, 'Maja', NULL),
  (22, 'Ove');
INSERT INTO loans (id, reader)
SELECT 31,
  upperr('Maja');
INSERT INTO loans (id, reader)
SELECT loans.id + 40,
  loans.raeder
FROM loans;
INSERT INTO loans (id, reader) VALUES
  (51, 'Maja'),
  (52, 'Ove'),
  (52, 'Lin')
ON CONFLICT (id) DO UPDATE SET reader = NULL;
UPDATE loans
SET reader = 'x'
WHERE id IN (SELECT id FROM
  loan);
INSERT INTO loans (id, reader) VALUES
  (61, 'Maja''s'),
  (62, 'Maja');
INSERT INTO loans (id, reader)
VALUES (71, 'it''s'), (72,
  'it's');
