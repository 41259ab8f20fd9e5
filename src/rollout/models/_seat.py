"""Where a person sits who acts as the model: what shows them things and takes what they type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

Manner = Literal["plain", "title", "quiet", "error"]
"""How a text is meant: as it is, as a heading, as something said beside, or as something that went wrong."""


class Completion(NamedTuple):
    """What the last word of a line may become: where the word starts, and the words, each a whole one."""

    start: int
    words: list[str]


Completer = Callable[[str], Completion]
"""Completes a line that is being typed, up to the cursor."""


class Seat(Protocol):
    """Shows and asks. Whatever it shows may come from a model, a tool or a file, and is made harmless by it."""

    @property
    def takes_back(self) -> bool:
        """Whether whoever runs the rollout can begin it anew, to take a call back (see :class:`TakenBack`)."""

    def show(self, text: str, manner: Manner = "plain") -> None:
        """Shows lines of text."""

    def ask(self, prompt: str, complete: Completer | None = None) -> str | None:
        """A line that the person types; None when there will be no more. Without ``complete`` it is text as it is.

        Raises KeyboardInterrupt when they give up, and NotUtf8Error for what is no text.
        """

    def state(self) -> Mapping[str, Any] | None:
        """The state of the world, where the person may see it; else None."""


class TakenBack(BaseException):
    """The last call is taken back, so that the rollout has to be run again; the model does again what is left.

    No ``except Exception`` on its way may take it for a fault of the model's.
    """


class NotUtf8Error(ValueError):
    """A line whose bytes are no UTF-8."""


__all__ = ["Completer", "Completion", "Manner", "NotUtf8Error", "Seat", "TakenBack"]
