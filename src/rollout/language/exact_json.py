"""Reads JSON whose numbers are going to be compared: whole numbers stay exact, however long they are."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

# The fast reader makes floats of whole numbers past 64 bits, the least of which has 19 digits.
_LONG = re.compile(rb"[0-9]{19}")


def load(data: str | bytes) -> Any:
    """The value of a JSON text, strictly.

    Raises orjson.JSONDecodeError, which is a ValueError, for what is no JSON, and for whole numbers of thousands of
    digits.
    """
    value = orjson.loads(data)
    written = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if _LONG.search(written) is None:
        return value
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise orjson.JSONDecodeError("a number is too long", written.decode("utf-8", "replace"), 0) from None


__all__ = ["load"]
