"""What runs say together: rates with their uncertainty, and how often a task is solved in several tries."""
