"""What things cost."""

PRICES = {"single": 89, "double": 149}
