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
        r"^(a{1,20}){1,20}$",
        r"^((a{1,5}){1,5}){1,5}$",
        r"^(\w{1,20}-?){2,20}$",
        r"^(a{1,20}b?){1,40}$",
        r"^(?:x(a{1,20}){1,20}){1,3}$",
        r"^(.*,){20}P",
        r"^(.*?,){11}P",
        r"^(.*,){4}P",
        r"[a-z]{0,20}" * 15 + "$",
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
        r"[a-z]{0,20}-" * 15,
        r"[a-z]{0,20}-" * 40,
        r"^[a-z0-9]{1,63}(\.[a-z0-9]{1,63}){1,10}$",
        r"^([^,]*,){20}P",
        r"^\d{1,3}(,\d{3}){0,5}(\.\d{1,2})?$",
        r"(\w{1,20}\s?){1,5}",
        r"([a-z]{1,20} ){1,20}",
        r"(a|b|ab){1,20}$",
        r"(?:[a-f0-9]{1,4}:){1,7}:?(?:[a-f0-9]{1,4}:){0,7}[a-f0-9]{1,4}",
        r"^(.*,){3}P",
        r"(",
    ],
)
def test_what_can_be_matched_in_one_way_does_not(pattern: str) -> None:
    assert not runs_away(pattern)
