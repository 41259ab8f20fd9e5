"""The terminal as the seat of a person who acts: lines with completion and history, and text that cannot take it over.

Without a terminal lines are read from standard input as they come, and shown, so that what is printed reads the same.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from types import ModuleType
from typing import Any, TextIO

from rollout.cli.output import powerless, visible, wants_color
from rollout.models._seat import Completer, Manner, NotUtf8Error

_STYLES: Mapping[Manner, str] = {"title": "1", "quiet": "2", "error": "31"}


class Terminal:
    """Shows on ``out``: standard output where that is free, else standard error."""

    def __init__(self, out: TextIO, *, takes_back: bool = False) -> None:
        self.out = out
        self.takes_back = takes_back
        self._state: Callable[[], Mapping[str, Any] | None] = lambda: None
        self._color = wants_color(out)
        self._waiting: list[str] = []
        self._readline = _readline() if self.is_terminal and sys.stdout.isatty() else None
        if isinstance(sys.stdin, TextIOWrapper):
            # A byte that is no text is told of, and neither ends the program nor becomes another one.
            sys.stdin.reconfigure(errors="surrogateescape")

    @property
    def is_terminal(self) -> bool:
        """Whether somebody sits there who can be asked."""
        return sys.stdin is not None and sys.stdin.isatty()

    def watch(self, state: Callable[[], Mapping[str, Any] | None]) -> None:
        """Lets the person see the state of the world, which ``state`` gives."""
        self._state = state

    def state(self) -> Mapping[str, Any] | None:
        """The state of the world, where the person may see it."""
        return self._state()

    def show(self, text: str, manner: Manner = "plain") -> None:
        """Shows lines of text; control characters in them become visible."""
        style = _STYLES.get(manner) if self._color else None
        for line in text.split("\n"):
            shown = powerless(visible(line.removesuffix("\r")))
            self.out.write(f"\x1b[{style}m{shown}\x1b[0m\n" if style and shown else f"{shown}\n")
        self.out.flush()

    def ask(self, prompt: str, complete: Completer | None = None) -> str | None:
        """A line that is typed; None at the end of what is not a terminal.

        At a terminal, Ctrl-D gives up, and so does Ctrl-C: KeyboardInterrupt. In a line that can be completed, Ctrl-C
        only drops what was typed. Raises NotUtf8Error for what is no text.
        """
        line = self._waiting.pop(0) if self._waiting else self._next(prompt, complete)
        if line is None:
            return None
        # What is pasted comes as one line that has several in it.
        line, *more = line.split("\n")
        self._waiting = [*more, *self._waiting]
        line = line.removesuffix("\r")
        if any("\ud800" <= character <= "\udfff" for character in line):
            raise NotUtf8Error("This line is not UTF-8; it was not read.")
        return line

    def agrees(self, question: str) -> bool:
        """Whether the person says yes, now and here: what they pasted before is no answer."""
        self._waiting.clear()
        try:
            answer = self.ask(f"{question} [y/N] ") or ""
        except (KeyboardInterrupt, NotUtf8Error):
            return False
        return answer.strip().lower() in ("y", "yes")

    def _next(self, prompt: str, complete: Completer | None) -> str | None:
        if not self.is_terminal:
            return self._from_pipe(prompt)
        while True:
            try:
                with _interruptible():
                    return self._from_terminal(prompt, complete)
            except EOFError:
                self.out.write("\n")
                raise KeyboardInterrupt from None
            except KeyboardInterrupt:
                self.out.write("\n")
                if complete is None or self._readline is None or not self._readline.get_line_buffer():
                    raise

    def _from_pipe(self, prompt: str) -> str | None:
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            return None
        line = line.removesuffix("\n").removesuffix("\r")
        self.show(f"{prompt}{line.encode('utf-8', 'replace').decode()}")
        return line

    def _from_terminal(self, prompt: str, complete: Completer | None) -> str:
        if self._readline is None:
            self.out.write(prompt)
            self.out.flush()
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            return line.removesuffix("\n")
        with _completing(self._readline, complete):
            return input(prompt)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Lets Ctrl-C end the waiting for a line at once; an event loop would hear of it after the line only."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:
        return None
    readline.set_completer_delims(" \t")
    return readline


@contextmanager
def _completing(readline: ModuleType, complete: Completer | None) -> Iterator[None]:
    found: list[str] = []

    def offer(text: str, number: int) -> str | None:
        if number == 0:
            found.clear()
            # What is raised here would be shown in the midst of the line.
            with suppress(Exception):
                found.extend(_offers(readline, complete) if complete is not None else ())
        return found[number] if number < len(found) else None

    # Where there is nothing to complete, a tab is text.
    if "libedit" in (readline.__doc__ or ""):
        readline.parse_and_bind(f"bind ^I {'rl_complete' if complete else 'ed-insert'}")
    else:
        readline.parse_and_bind(f"tab: {'complete' if complete else 'self-insert'}")
    readline.set_completer(offer)
    try:
        yield
    finally:
        readline.set_completer(None)


def _offers(readline: ModuleType, complete: Completer) -> list[str]:
    line, start, end = readline.get_line_buffer(), readline.get_begidx(), readline.get_endidx()
    completion = complete(line[:end])
    # A word with blanks in quotes is several for readline, which is offered the rest of it.
    begun = start - completion.start
    return [word[begun:] for word in completion.words]


__all__ = ["Terminal"]
