"""A builder called with the key that it writes, not with its own keyword."""

from rollout import lookup_tool

tool = lookup_tool("get_order", fromArray="orders", match_field="id", description="Read an order.")
