from __future__ import annotations

import pytest

from rollout.check.backtracking import runs_away


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a*)*b",
        r"^(\w+\s?)*$",
        r"(ab|ab)*c",
        r"(a|a)*c",
        r"(a|aa)*b",
        r"(a.|ab)*c",
        r"(foo|fo+)*x",
        r"((a|b)*|c)*d",
        r"(a{1,3})*b",
        r"(a?b?)*c",
        r"(.|\s)*x",
        r"(\s*\w+\s*)*$",
        r"(?=(a+)+b)c",
        r"^(?:(?=a)(a|aa)+)+$",
        r"(\p{L}+)+$",
        r"(.*)(.*)(.*)(.*)x",
        r"\s*\s*\s*\s*$",
        r"(a|b|c)*" * 30,
    ],
)
def test_what_can_be_matched_in_many_ways_runs_away(pattern: str) -> None:
    assert runs_away(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\w+(\s\w+)*$",
        r"(,\d{3})*",
        r"(\d{1,3}\.){3}\d{1,3}",
        r".*foo.*bar.*baz.*",
        r"(a|b)*c",
        r"(a+b)*",
        r"([\"'])(.*?)\1",
        r"(\w+@)?\w+\.\w+",
        r"(\w+\W+)*\w+",
        r"\$?\d[\d,]*(\.\d\d)?",
        r'(?:[^"\\]|\\.)*"',
        r"(?:/[^/]+)*/?$",
        r"a*+b",
        r"(?>a+)+b",
        r"[a-z]{0,20}" * 15,
        r"(",
    ],
)
def test_what_can_be_matched_in_one_way_does_not(pattern: str) -> None:
    assert not runs_away(pattern)
