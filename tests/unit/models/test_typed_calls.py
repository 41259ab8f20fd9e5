"""The language in which a person types calls, and what it completes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.language.exact_json import load
from rollout.models import ConnectError, Setup, connect
from rollout.models._completing import complete
from rollout.models._typed import BrokenOffError, UnreadableError, here_text, read_arguments, tool_in
from rollout.templates import Tool

REFUND = Tool(
    "refund",
    parameters={
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "amount": {"type": "number"},
            "count": {"type": "integer"},
            "notify": {"type": "boolean"},
            "reason": {"enum": ["late", "wrong item", 3]},
            "either": {"type": ["string", "number"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "address": {"$ref": "#/$defs/address"},
            "any": {},
            "broken": {"type": "nothing"},
        },
        "required": ["amount", "order_id"],
        "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}},
    },
)
NOTE = Tool("refund_note", parameters={"type": "object", "properties": {"text": {"type": "string"}}})
TOOLS = (REFUND, NOTE, Tool("odd name"))


def read(written: str, *lines: str, tool: Tool = REFUND) -> Any:
    waiting = iter(lines)
    return load(read_arguments(tool, written, lambda: next(waiting, None)))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("refund", "refund"),
        ("refund order_id=1", "refund"),
        ('refund{"order_id": 1}', "refund"),
        ('refund({"order_id": 1})', "refund"),
        ("refund_note text=x", "refund_note"),
        ("odd name", "odd name"),
        ("odd name x=1", "odd name"),
        ("refunds", None),
        ("odd", None),
        ("", None),
    ],
)
def test_a_line_is_for_the_tool_whose_name_it_begins_with(line: str, name: str | None) -> None:
    found = tool_in(line, TOOLS)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("", {}),
        ("()", {}),
        ("order_id=1003 amount=20", {"order_id": "1003", "amount": 20}),
        ("order_id=1e3 amount=1e3", {"order_id": "1e3", "amount": 1000.0}),
        ("order_id=null notify=true", {"order_id": "null", "notify": True}),
        ("order_id=true notify=yes", {"order_id": "true", "notify": "yes"}),
        ("order_id=2024-01-31", {"order_id": "2024-01-31"}),
        ("count=2.5", {"count": 2.5}),
        ("amount=abc", {"amount": "abc"}),
        ("reason=late", {"reason": "late"}),
        ("reason=3", {"reason": 3}),
        ("either=7 any=7 broken=7 unknown=7", {"either": 7, "any": 7, "broken": 7, "unknown": 7}),
        ('either="7" any="7"', {"either": "7", "any": "7"}),
        ("reason='wrong item'", {"reason": "wrong item"}),
        ('order_id="a \\"b\\" \\n\\u00e9" amount=1', {"order_id": 'a "b" \né', "amount": 1}),
        ("order_id=a=b#c;d,e'f amount=1", {"order_id": "a=b#c;d,e'f", "amount": 1}),
        ('tags=["a", "b c"] amount=1', {"tags": ["a", "b c"], "amount": 1}),
        ("order_id=[1,2]", {"order_id": "[1,2]"}),
        ("order_id={x}", {"order_id": "{x}"}),
        ('address={"city": "Bergen"}', {"address": {"city": "Bergen"}}),
        ("order_id=ü→😀", {"order_id": "ü→😀"}),
        ("any=12345678901234567890123", {"any": 12345678901234567890123}),
        ('{"order_id": "O-1"}', {"order_id": "O-1"}),
        ('({"order_id": "O-1"})', {"order_id": "O-1"}),
    ],
)
def test_arguments_are_read_as_their_parameters_take_them(written: str, arguments: dict[str, Any]) -> None:
    found = read(written)
    assert json.dumps(found) == json.dumps(arguments)


@pytest.mark.parametrize(
    ("written", "lines", "arguments"),
    [
        ('{"order_id":', ['"O-1",', '"amount": 1}'], {"order_id": "O-1", "amount": 1}),
        ("tags=[", ['"a",', '"b"] amount=1'], {"tags": ["a", "b"], "amount": 1}),
        ("order_id=<<END amount=1", ["a b", '  "c"', "", "END"], {"order_id": 'a b\n  "c"\n\n', "amount": 1}),
        ("order_id=<<A any=<<B", ["x", "A", "A", " B "], {"order_id": "x\n", "any": "A\n"}),
        ("order_id=<<A", ["A"], {"order_id": ""}),
    ],
)
def test_arguments_may_go_over_several_lines(
    written: str, lines: list[str], arguments: dict[str, Any]
) -> None:
    assert read(written, *lines) == arguments


@pytest.mark.parametrize("written", ['{"order_id":', "tags=[", "order_id=<<END", "{"])
def test_what_is_broken_off_is_no_call(written: str) -> None:
    with pytest.raises(BrokenOffError):
        read(written, "1" if written == "order_id=<<END" else "")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("O-1", "“O-1” is no name=value."),
        ("order_id=two words", "“words” is no name=value."),
        ("order_id=1 order_id=2", "“order_id” is given twice."),
        ("order_id=", "“order_id=” has no value"),
        ("order_id= amount=1", "“order_id=” has no value"),
        ("order_id='open", "A quote is not closed."),
        ('order_id="open', "In the quotes: Unterminated string"),
        ('order_id="a"b', "After the value of “order_id” a blank is missing."),
        ('{"order_id": O-1}', "This is not JSON from character 14 on."),
        ('{"order_id": 1}}', "This is not JSON from character 16 on."),
        ('{"amount": NaN}', "This is JSON for some readers only"),
        ('{"a": "\\ud800"}', "This is JSON for some readers only"),
        ('{"a":' * 200_000, "This is nested too deep."),
        (f"tags=[{'1' * 5000}]", "A whole number in it has more digits than can be read. If this is text,"),
        (f'address={{"city": {"1" * 5000}}}', "A whole number in it has more digits than can be read."),
        (f'{{"amount": {"1" * 5000}}}', "A whole number in it has more digits than can be read."),
        (f'{{"amount": {"1" * 5000}', "A whole number in it has more digits than can be read."),
        ("order_id=<~nobody-of-that-name/x", "There is no file of text “~nobody-of-that-name/x”."),
        ("order_id=<~a\0b/x", "There is no file of text"),
        ("order_id=<~\ud800/x", "There is no file of text"),
    ],
)
def test_what_cannot_be_read_is_a_sentence_and_no_call(written: str, words: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(written)
    assert words in str(caught.value)


def test_a_value_may_be_the_text_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mended.py").write_bytes("a = 'é'\r\n".encode())
    assert read("order_id=<mended.py amount=1") == {"order_id": "a = 'é'\r\n", "amount": 1}
    Path("broken.bin").write_bytes(b"\xff\x00")
    for name in ("nothing.py", "broken.bin", "/dev/zero", "b>"):
        with pytest.raises(UnreadableError, match="There is no file of text"):
            read(f"order_id=<{name}")
    assert read('order_id="<b>"') == {"order_id": "<b>"}


def test_an_answer_may_go_over_several_lines() -> None:
    lines = iter(["a", "b", "END"])
    assert here_text("<<END", lambda: next(lines)) == "a\nb\n"
    assert here_text("<< END", lambda: None) is None
    assert here_text("say <<END", lambda: None) is None


@given(
    st.dictionaries(st.sampled_from(["order_id", "any"]), st.text(st.characters(exclude_categories=["Cs"])))
)
def test_any_text_can_be_given_in_quotes(arguments: dict[str, str]) -> None:
    written = " ".join(f"{name}={json.dumps(text, ensure_ascii=False)}" for name, text in arguments.items())
    assert read(written) == arguments


@given(st.text(), st.lists(st.text(), max_size=3))
def test_whatever_is_typed_is_read_or_refused(written: str, lines: list[str]) -> None:
    with suppress(UnreadableError, BrokenOffError):
        assert isinstance(read(written, *lines), dict)


# Completion

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You are the desk."},
    {
        "role": "user",
        "content": 'Refund O-1 of a@b.test\n\nInput:\n{"customer": {"id": "C 9"}, "amount": 12.5}',
    },
    {"role": "assistant", "content": "O-77"},
    {"role": "tool", "content": '{"id": "FP-2", "lines": [{"amount": 30}], "note": "\\u001b[2J-7"}'},
]


def offered(line: str, messages: Iterable[dict[str, Any]] = MESSAGES) -> list[str]:
    completion = complete(line, TOOLS, ["answer", "help", "tools"], list(messages))
    return [line[: completion.start] + word for word in completion.words]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("re", ["refund ", "refund_note "]),
        ("refund", ["refund ", "refund_note "]),
        ("  an", ["  answer "]),
        ("/", ["/answer ", "/help ", "/tools "]),
        ("/to", ["/tools "]),
        ("help r", ["help refund", "help refund_note"]),
        ("/tools odd", ["/tools odd name"]),
        ("answer ", []),
        ("refund_note ", ["refund_note text="]),
        ("refund_note text=x ", []),
        ("refund am", ["refund amount="]),
        ('refund order_id="am', []),
        ("refund notify=", ["refund notify=true ", "refund notify=false "]),
        ("refund reason=", ["refund reason=late ", 'refund reason="wrong item" ', "refund reason=3 "]),
        ('refund reason="wrong i', ['refund reason="wrong item" ']),
        ("refund amount=", ["refund amount=12.5 ", "refund amount=30 "]),
        ("refund order_id=", None),
        ("refund order_id=O", ["refund order_id=O-1 "]),
        ('refund order_id="C', ['refund order_id="C 9" ']),
        ("refund order_id=O-7", []),
        ('refund {"or', []),
        ("nothing x", []),
    ],
)
def test_tab_offers_what_fits(line: str, words: list[str] | None) -> None:
    found = offered(line)
    assert all(word.startswith(line) for word in found)
    if words is not None:
        assert found == words


def test_parameters_that_have_to_be_given_are_offered_first() -> None:
    assert offered("refund ")[:2] == ["refund order_id=", "refund amount="]
    assert "refund amount=" not in [word.replace("amount=1 ", "") for word in offered("refund amount=1 ")]


def test_values_come_from_what_was_said_and_nothing_that_a_terminal_obeys_is_offered() -> None:
    found = offered("refund order_id=")
    assert {"refund order_id=O-1 ", "refund order_id=FP-2 ", "refund order_id=a@b.test "} <= set(found)
    assert not [word for word in found if "O-77" in word or "\x1b" in word]
    assert offered("refund order_id=", []) == []


@given(st.text(max_size=40))
def test_completing_never_fails(line: str) -> None:
    assert all(isinstance(word, str) for word in offered(line))
    assert all(isinstance(word, str) for word in offered(f"refund {line}"))


# The model


def test_where_nobody_sits_there_is_no_such_model() -> None:
    with pytest.raises(ConnectError, match="Nobody can be asked here"):
        connect("human")


@pytest.mark.parametrize("model_id", ["human:me", "human/me"])
def test_the_model_has_one_name(model_id: str) -> None:
    with pytest.raises(ConnectError, match="is nobody"):
        connect(model_id, Setup())
