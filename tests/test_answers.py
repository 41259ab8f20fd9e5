"""How answers are worded: each phrase of `tests/cases/answers/*.yaml` gives the expected answer, or does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rollout.environment import Task
from rollout.verifiers import Case
from rollout.verifiers._wording import SAYING
from rollout.verifiers.answer_match import judge

CASES = Path(__file__).parent / "cases" / "answers"
GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "writing-a-verifier.md"


def phrases() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        for group in yaml.safe_load(path.read_text(encoding="utf-8")):
            for verdict in ("right", "wrong"):
                for phrase in group[verdict]:
                    name = f"{path.stem}-{group['expected']}-{verdict}-{phrase!r}"
                    found.append(pytest.param(group, phrase, verdict == "right", id=name))
    return found


def said(phrase: str, asked: str) -> Case:
    return Case(
        task=Task(asked),
        template="workflow",
        initial_state={},
        final_state={},
        final_output=phrase,
        calls=(),
    )


@pytest.mark.parametrize(("group", "phrase", "is_right"), phrases())
def test_a_phrase_gives_the_answer_or_not(group: dict[str, Any], phrase: str, is_right: bool) -> None:
    options = {"expected": group["expected"], "tolerance": group.get("tolerance", 0)}
    judgement = judge(
        said(phrase, group["asked"]), {**options, "caseSensitive": not group.get("fold", False)}
    )
    assert (judgement.value == 1) == is_right, judgement.reason


def test_the_guide_lists_the_words_that_carry_an_answer() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    listed = " ".join(line.removeprefix("> ") for line in guide.splitlines() if line.startswith("> "))
    assert set(listed.split(", ")) == SAYING


ASKED = "How many copies are there?"
NUMBERS = st.integers(-(10**9), 10**9)
SIGNS = "0123456789 .,:;!?-–+=/%$€<>≈~*_`#()[]{}|\\\n\"'²٤"
WORDS = "42|not |or |is |The answer is |Answer: |There are |copies |\\boxed{|**|million |seven |no |yes |maybe |\n\n|- "
PIECES = st.sampled_from([*SIGNS, *WORDS.split("|")])
FRAMES = st.sampled_from(
    ["{}", "**{}**.", "The answer is {}.", "There are {} copies.", "Answer: {}", "#### {}"]
)
ENDLESS = ("**a ", "\n", "  ", "is ", "-", "\\boxed{", "$1 ", "Thanks\n", "7, ", "a = ", "#### ", "! ")


def gives(number: int, phrase: str) -> bool:
    return judge(said(phrase, ASKED), {"expected": number}).value == 1


@given(NUMBERS, FRAMES)
def test_a_number_is_read_back_however_it_is_framed(number: int, frame: str) -> None:
    assert gives(number, frame.format(number))
    assert gives(number, frame.format(f"{number:,}"))
    assert not gives(number + 1, frame.format(number))


@given(
    NUMBERS,
    NUMBERS,
    st.sampled_from([" or ", ", ", " to ", "–", "/", " and ", " ", "\n", ". ", "? ", " × ", "; "]),
)
def test_two_numbers_are_no_answer(one: int, other: int, between: str) -> None:
    if one != other:
        assert not gives(one, f"{one}{between}{other}")
        assert not gives(other, f"There are {one}{between}{other} copies.")


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_does_not_say_a_number_does_not_give_it(phrase: str) -> None:
    digits = "".join(filter(str.isascii, filter(str.isdigit, phrase)))
    assert "4217" in digits or not gives(4217, phrase)
    assert "7" in digits or "seven" in phrase or not gives(7, phrase)


@given(
    st.lists(PIECES, max_size=12).map("".join), st.sampled_from([7, 4.5, True, "Paris", ["a", "b"], {"a": 1}])
)
def test_every_message_is_judged(phrase: str, expected: Any) -> None:
    assert judge(said(phrase, ASKED), {"expected": expected}).value in (0, 1)


@pytest.mark.parametrize("unit", ENDLESS)
def test_a_long_message_is_judged(unit: str) -> None:
    long = unit * 20_000
    assert not gives(42, f"{long}x")
    assert judge(said(f"x{long}", ASKED), {"expected": "Paris"}).value == 0
