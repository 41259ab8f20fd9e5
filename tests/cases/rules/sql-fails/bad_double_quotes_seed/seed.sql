INSERT INTO loans ("the ""reader""") VALUES ("Maja");
