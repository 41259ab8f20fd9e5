"""Searching beside this process: as `re` does, and no longer than a limit."""

from __future__ import annotations

import asyncio
import os
import re
import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.verifiers import _search
from rollout.verifiers._search import SearchError, search

PATTERNS = (
    r"a+b",
    r"^\w+$",
    r"(?i)straße",
    r"é$",
    r"[^\n]\Z",
    r"(?s).b",
    r"\d{2,}(?!\d)",
    r"(?P<q>['\"]).*(?P=q)",
)


def found(pattern: str, text: str, flags: int = 0, seconds: float = 10.0) -> tuple[int, int] | None:
    return asyncio.run(search(pattern, flags, text, seconds=seconds))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PATTERNS), st.text(st.sampled_from("aAbéß1\n\r\u2028\x00'\"\ud800 中"), max_size=12))
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    expected = re.search(pattern, text)
    assert found(pattern, text) == (None if expected is None else expected.span())


def test_a_text_of_megabytes_is_searched() -> None:
    assert found("x$", "y" * 3_000_000 + "x") == (3_000_000, 3_000_001)


def test_a_search_without_end_is_given_up_and_the_next_one_works() -> None:
    with pytest.raises(SearchError, match="did not come to an end"):
        found(r"(a+)+$", "a" * 60 + "b", seconds=0.2)
    assert found("b", "ab") == (1, 2)


def test_a_search_without_end_does_not_hold_up_the_event_loop() -> None:
    async def both() -> tuple[object, object]:
        runaway = asyncio.ensure_future(search(r"(a+)+$", 0, "a" * 60 + "b", seconds=1.5))
        quick = await search("b", 0, "ab", seconds=10)
        assert not runaway.done()
        [ended] = await asyncio.gather(runaway, return_exceptions=True)
        return quick, ended

    quick, ended = asyncio.run(both())
    assert quick == (1, 2)
    assert isinstance(ended, SearchError)


def test_a_pattern_that_is_none_is_told_and_costs_no_process() -> None:
    with pytest.raises(SearchError, match="cannot be used: missing \\)"):
        found("(", "x")
    assert _search._idle


def test_a_process_that_somebody_ended_is_replaced() -> None:
    assert found("b", "ab") == (1, 2)
    for worker in _search._idle:
        os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
    assert found("b", "ab") == (1, 2)
