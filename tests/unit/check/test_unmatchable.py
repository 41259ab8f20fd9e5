from __future__ import annotations

import re

import pytest

from rollout.check.unmatchable import never_matches

TEXTS = ("", "a", "b", "ab", "a\n", "a\nb", "\n", "x", "ax", "a,b", "$100", "[a^]b", "A", "aa\n", "é", "100")


@pytest.mark.parametrize(
    "pattern",
    [
        "a^b",
        "$a",
        "$100",
        "$[0-9]+",
        r"\d+$ EUR",
        "(a|b)^c",
        r"a\Ab",
        r"x\Zy",
        r"\Z\n",
        "$a|b^c",
        "(x^)+",
        "(?:$a){2}",
        "a$b*c",
        "a+^",
        "(?>a)^b",
        "$$a",
        "$\n\n",
    ],
)
def test_what_ties_a_character_before_the_beginning_or_behind_the_end_matches_nothing(pattern: str) -> None:
    assert never_matches(pattern)
    assert not any(re.search(pattern, text) for text in TEXTS)


@pytest.mark.parametrize(
    "pattern",
    [
        "^a$",
        "a$\n",
        r"a$\s",
        "$[^a]",
        "a$|b",
        "(^a|b)c",
        "(?:^|,)a(?:$|,)",
        "x*^a",
        "(a^b)?c",
        "(?m)a$\nb",
        "(?m:$)\na",
        r"\$100",
        r"[a^]b$",
        "^^a$$",
        "a?^b",
        "(^)?a",
        "$(?!a)",
        "((a)|b)(?(2)c|d)",
        "(a)?^(?(1)x|b)",
        "",
        "(?i)A$",
        "(",
        "a" * 5_000,
    ],
)
def test_what_may_match_is_let_be(pattern: str) -> None:
    assert not never_matches(pattern)
