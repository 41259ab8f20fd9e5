"""The language in which a person types calls: ``refund order_id=O-1 amount=20``, or JSON behind the tool's name.

What can be read is a call, be it right or wrong for its tool; what cannot is a sentence for the person, and no call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from rollout.language.exact_json import load
from rollout.language.user_schema import UserSchemaError, compile_schema
from rollout.source.file import read_source
from rollout.templates import Tool

_SHARED = ("$defs", "definitions", "$schema", "$id")
_NAME = re.compile(r"([^\s=\"'{}\[\]<]+)=")
_BARE = re.compile(r"\S+")
_HERE = re.compile(r"<<(\w+)(?=\s|$)")
_FILE = re.compile(r"<(?!<)(\S+)")
_SINGLE = re.compile(r"'([^']*)'")
_AFTER = re.compile(r"\s+|$")
_TOO_LONG = "A whole number in it has more digits than can be read."

MoreLines = Callable[[], str | None]
"""Gives the next line of what goes over several; None when it is broken off."""


class UnreadableError(ValueError):
    """What was typed is no call; its text is a sentence."""


class BrokenOffError(Exception):
    """Of what goes over several lines, the rest does not come."""


def tool_in(line: str, tools: Sequence[Tool]) -> Tool | None:
    """The tool that a line begins with the name of; the longest, where one name begins another."""
    found = [
        tool
        for tool in tools
        if line.startswith(tool.name) and (line[len(tool.name) :][:1] in ("", "{", "(") or _blank(line, tool))
    ]
    return max(found, key=lambda tool: len(tool.name), default=None)


def _blank(line: str, tool: Tool) -> bool:
    return line[len(tool.name)].isspace()


def read_arguments(tool: Tool, written: str, more: MoreLines) -> str:
    """The arguments behind a tool's name, as JSON text. ``more`` is asked for lines where they go on.

    Raises UnreadableError, and BrokenOffError where ``more`` has none.
    """
    text = written.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()  # As a transcript shows a call.
    if not text:
        return "{}"
    if text.startswith("{"):
        return _json_object(text, more)
    # As models write them: without blanks.
    return json.dumps(_pairs(tool, text, more), ensure_ascii=False, separators=(",", ":"))


def here_text(opening: str, more: MoreLines) -> str | None:
    """The lines up to the word that ``opening`` (``<<END``) names, each with its line break; None for another text."""
    found = _HERE.fullmatch(opening.strip())
    return None if found is None else _lines_up_to(found[1], more)


def _json_object(text: str, more: MoreLines) -> str:
    while True:
        try:
            # Only to see that it can be read: the text goes to the tool as it is.
            load(text)
            return text
        except orjson.JSONDecodeError:
            pass
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            if error.pos < len(text.rstrip()):
                raise UnreadableError(f"This is not JSON from character {error.pos + 1} on.") from None
        except RecursionError:
            raise UnreadableError("This is nested too deep.") from None
        except ValueError:
            raise UnreadableError(_TOO_LONG) from None
        else:
            raise UnreadableError("This is JSON for some readers only: NaN, or half a character.")
        text += "\n" + _next(more)


def _pairs(tool: Tool, text: str, more: MoreLines) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    at = 0
    while at < len(text):
        named = _NAME.match(text, at)
        if named is None:
            word = _BARE.match(text, at)
            shown = word[0] if word else text[at:]
            raise UnreadableError(
                f'“{shown}” is no name=value. Text with blanks in it is put in quotes: name="two words".'
            )
        name = named[1]
        if name in arguments:
            raise UnreadableError(f"“{name}” is given twice.")
        arguments[name], text, at = _value(tool, name, text, named.end(), more)
        after = _AFTER.match(text, at)
        if after is None:
            raise UnreadableError(f"After the value of “{name}” a blank is missing.")
        at = after.end()
    return arguments


def _value(tool: Tool, name: str, text: str, at: int, more: MoreLines) -> tuple[Any, str, int]:
    """The value at ``at``, the text (longer where lines were added), and where the value ends in it."""
    if (here := _HERE.match(text, at)) is not None:
        return _lines_up_to(here[1], more), text, here.end()
    if (file := _FILE.match(text, at)) is not None:
        return _text_of(file[1], name), text, file.end()
    if text.startswith("'", at):
        single = _SINGLE.match(text, at)
        if single is None:
            raise UnreadableError("A quote is not closed.")
        return single[1], text, single.end()
    if text.startswith('"', at):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise UnreadableError(f"In the quotes: {error.msg} at character {error.pos + 1}.") from None
        return value, text, end
    if text.startswith(("{", "["), at):
        value, text, end = _nested(text, at, more)
        if end >= 0:
            return _as_taken(tool, name, value, text[at:end]), text, end
    bare = _BARE.match(text, at)
    if bare is None:
        raise UnreadableError(f'“{name}=” has no value; {name}="" is empty text.')
    return bare_value(tool, name, bare[0]), text, bare.end()


def _nested(text: str, at: int, more: MoreLines) -> tuple[Any, str, int]:
    """A list or object at ``at``; -1 as its end for what only begins like one."""
    while True:
        try:
            _, end = json.JSONDecoder().raw_decode(text, at)
            return load(text[at:end]), text, end
        except json.JSONDecodeError as error:
            if error.pos < len(text.rstrip()):
                return None, text, -1
        except RecursionError:
            return None, text, -1
        except ValueError:
            raise UnreadableError(f"{_TOO_LONG} If this is text, put it in quotes.") from None
        text += "\n" + _next(more)


def bare_value(tool: Tool, name: str, written: str) -> Any:
    """What a value without quotes means: what the parameter takes of a number, true, false or null, and the text."""
    try:
        value = load(written)
    except orjson.JSONDecodeError:
        return written
    return _as_taken(tool, name, value, written)


def _as_taken(tool: Tool, name: str, value: Any, written: str) -> Any:
    accepts = acceptance(tool, name)
    return written if not accepts(value) and accepts(written) else value


def acceptance(tool: Tool, name: str) -> Callable[[Any], bool]:
    """Whether a parameter takes a value; what its schema does not say, or says badly, is taken."""
    schema = parameter(tool, name)
    shared = {key: tool.parameters[key] for key in _SHARED if key in tool.parameters}
    try:
        return compile_schema({**shared, "allOf": [schema]}).is_valid
    except UserSchemaError:
        return lambda value: True


def parameter(tool: Tool, name: str) -> Any:
    """The schema of one parameter; ``{}`` where there is none."""
    properties = tool.parameters.get("properties")
    return properties.get(name, {}) if isinstance(properties, dict) else {}


def _text_of(file: str, name: str) -> str:
    try:
        path = Path(file).expanduser()
    except (RuntimeError, ValueError):
        path = None  # “~” stands for nobody's home, or has behind it what no name may have
    source = None if path is None else read_source(path, file, [])
    if source is None:
        raise UnreadableError(
            f'There is no file of text “{file}”. If this is the value itself, put it in quotes: {name}="<…".'
        )
    return source.text


def _lines_up_to(word: str, more: MoreLines) -> str:
    lines: list[str] = []
    while (line := _next(more)).strip() != word:
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _next(more: MoreLines) -> str:
    line = more()
    if line is None:
        raise BrokenOffError
    return line


__all__ = [
    "BrokenOffError",
    "UnreadableError",
    "acceptance",
    "bare_value",
    "here_text",
    "parameter",
    "read_arguments",
    "tool_in",
]
