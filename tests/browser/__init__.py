"""What is looked at in a real browser."""
