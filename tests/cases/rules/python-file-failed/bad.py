"""Reads its orders from a module beside it."""

from orders import read_orders

ORDERS = read_orders("O-1;O-2")
