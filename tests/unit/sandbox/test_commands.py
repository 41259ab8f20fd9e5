"""Which test runner a line starts, what of an output differs from run to run, and which reports are believed."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.sandbox import Ended
from rollout.sandbox.commands import CommandError, infer_report, read_command, steady, told
from rollout.sandbox.witness import ForgedError, read_report

KEY = b"key"


@pytest.mark.parametrize(
    ("line", "report"),
    [
        ("pytest", "pytest"),
        ("python -m pytest -q", "pytest"),
        ("python3.12 -B -m pytest tests", "pytest"),
        ("PYTHONPATH=src python -m pytest", "pytest"),
        ("cd app && uv run pytest -x", "pytest"),
        ("./venv/bin/pytest", "pytest"),
        ("python -m unittest discover", "unittest"),
        ("node --test", "node"),
        ("node --experimental-vm-modules --test src", "node"),
        ("npm test", "node"),
        ("npm run unit", "jest"),
        ("npx vitest run", "vitest"),
        ("corepack pnpm jest", "jest"),
        ("python run_tests.py", "exit-status"),
        ("node test.js", "exit-status"),
        ("npm run nothing", "exit-status"),
        ("pytest | tail -1", "exit-status"),
        ("pytest || true", "exit-status"),
        ("pytest > out.txt", "exit-status"),
        ("pytest; true", "exit-status"),
        ("pytest 'unfinished", "exit-status"),
        ("make pytest", "exit-status"),
        ("echo pytest", "exit-status"),
        ("", "exit-status"),
    ],
)
def test_a_command_line_shows_its_runner(line: str, report: str) -> None:
    package = json.dumps({"scripts": {"test": "node --test", "unit": "jest --ci"}})
    assert infer_report(line, {"package.json": package}) == report


def test_a_broken_package_file_shows_nothing() -> None:
    for package in ("", "{", "[]", '{"scripts": []}', '{"scripts": {"test": 1}}'):
        assert infer_report("npm test", {"package.json": package}) == "exit-status"


def test_a_command_may_say_more() -> None:
    command = read_command("t", {"command": "make", "report": "pytest", "timeout": 5, "env": {"A": "1"}})
    assert (command.line, command.report, command.limits.seconds) == ("make", "pytest", 5.0)
    assert command.variables == {"A": "1"}


@pytest.mark.parametrize(
    "written", ["", " ", {}, {"command": 3}, None, {"command": "a\0b"}, {"command": "a", "report": "x"}]
)
def test_what_is_no_command_is_told(written: object) -> None:
    with pytest.raises(CommandError):
        read_command("t", written)


@pytest.mark.parametrize(
    ("output", "left"),
    [
        ("1 passed in 0.05s", "1 passed in …"),
        ("== 3 failed in 75.31s (0:01:15) ==", "== 3 failed in … =="),
        ("Ran 3 tests in 0.001s\n\nOK", "Ran 3 tests in …\n\nOK"),
        ("✔ one (0.276085ms)\nℹ duration_ms 242.9", "✔ one (…)\nℹ duration_ms …"),
        ("  duration_ms: 0.27\n", "  duration_ms: …\n"),
        ("Time:        0.512 s, estimated 1 s", "Time:        …"),
        ("<Order object at 0x7f3a1c2b9d10>", "<Order object at …>"),
        ("assert '5 seconds' == '6 seconds'", "assert '5 seconds' == '6 seconds'"),
        ("took 5s, not 6s", "took 5s, not 6s"),
        ("0xdeadbeef", "0xdeadbeef"),
    ],
)
def test_only_how_long_it_took_is_left_out(output: str, left: str) -> None:
    assert steady(output) == left


def test_a_long_output_is_cut_in_the_middle() -> None:
    said = told(Ended(0, "a" * 30_000 + "the end"))["output"]
    assert len(said) < 17_000
    assert said.endswith("the end") and "left out" in said


def signed(*events: object) -> bytes:
    before, lines = b"", []
    for event in events:
        text = json.dumps(event).encode()
        before = hmac.new(KEY, before + text, hashlib.sha256).hexdigest().encode()
        lines.append(before + b" " + text + b"\n")
    return b"".join(lines)


EVENTS = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3), min_size=1, max_size=5
)


@settings(max_examples=30)
@given(EVENTS)
def test_a_report_is_read_as_it_was_written(events: list[dict[str, str]]) -> None:
    assert read_report(signed(*events), KEY) == events


@settings(max_examples=30)
@given(EVENTS, st.data())
def test_a_report_with_anything_changed_in_it_is_forged(
    events: list[dict[str, str]], data: st.DataObject
) -> None:
    report = bytearray(signed(*events))
    place = data.draw(st.integers(0, len(report) - 2))
    report[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ForgedError):
        read_report(bytes(report), KEY)


@pytest.mark.parametrize("lines", [[1, 0], [1], [0, 0], [0, 2]])
def test_a_report_in_another_order_is_forged(lines: list[int]) -> None:
    written = signed({"t": "a"}, {"t": "b"}, {"t": "c"}).splitlines(keepends=True)
    with pytest.raises(ForgedError):
        read_report(b"".join(written[line] for line in lines), KEY)


def test_a_report_that_is_no_object_is_none() -> None:
    with pytest.raises(ForgedError):
        read_report(signed([1]), KEY)
