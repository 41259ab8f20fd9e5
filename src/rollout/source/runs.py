"""A quick look at a long text for runs of letters and digits, which long numbers, keys and tokens are."""

from __future__ import annotations

LONG_RUN = 16
"""As many letters and digits in a row as an integer past 2^53 has, and fewer than any key or token."""

_CLASSES = bytearray(b" " * 256)
for _byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789":
    _CLASSES[_byte] = 97
_CLASSES[ord("@")] = ord("@")
_TABLE = bytes(_CLASSES)
_RUN = "a" * LONG_RUN


class Outline:
    """``data`` from afar: ``text`` has an ``a`` for each ASCII letter or digit, and a space or ``@`` for the rest."""

    __slots__ = ("data", "has_long_run", "text")

    def __init__(self) -> None:
        self.data = b""
        self.text = ""
        self.has_long_run = False


_last = Outline()


def outline(data: bytes) -> Outline:
    """The outline of ``data``, until the next is asked for.

    The last one is kept, because the reader and several rules look at the same line in turn.
    """
    last = _last
    if data is not last.data:
        last.data = data
        # As a str it is searched three times as fast as as bytes.
        last.text = text = data.translate(_TABLE).decode("latin-1")
        last.has_long_run = _RUN in text
    return last


__all__ = ["LONG_RUN", "Outline", "outline"]
