"""All rules by code and slug: what `check` runs, and what `rollout explain` tells about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rollout.diagnostics import Severity
from rollout.family import member, members

if TYPE_CHECKING:
    from rollout.check.finding import Finding
    from rollout.check.subject import Subject
    from rollout.source.document import TaskRecord
    from rollout.source.place import Problem

    Describe = Callable[[Problem], tuple[str, str | None]]
    CheckEnvironment = Callable[[Subject], Iterator[Finding]]
    JudgeTask = Callable[[TaskRecord], Iterable[Finding] | None]
    CheckTasks = Callable[[Subject], JudgeTask | None]
    Screen = Callable[[bytes], bool]

LOOKING = "rollout.check.rules"
WORDING = "rollout.check.problems"
"""The two families of rules: those that look for their defect, and those that word what a lower layer noticed."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of defect, found by ``check`` or ``check_tasks``, or put into words by ``describe``.

    ``page`` is its documentation. ``screen`` looks at the raw lines of many tasks at once; False spares the rule from
    being asked about each.
    """

    slug: str
    code: str
    severity: Severity
    page: str
    describe: Describe | None
    check: CheckEnvironment | None
    check_tasks: CheckTasks | None
    screen: Screen | None = None

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.partition("\n")[0]


@cache
def rule(slug: str) -> Rule:
    """The rule called ``slug``. Raises KeyError when there is none."""
    module = member(LOOKING, slug) or member(WORDING, slug)
    if module is None:
        raise KeyError(slug)
    return Rule(
        slug=slug.replace("_", "-"),
        code=module.CODE,
        severity=module.SEVERITY,
        page=(module.__doc__ or "").strip(),
        describe=getattr(module, "describe", None),
        check=getattr(module, "check", None),
        check_tasks=getattr(module, "check_tasks", None),
        screen=getattr(module, "screen", None),
    )


@cache
def looking_rules() -> tuple[Rule, ...]:
    """The rules that a check has to ask, sorted by code; the others are only loaded where there is a problem."""
    return _sorted(members(LOOKING))


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule there is, sorted by code."""
    return _sorted((*members(LOOKING), *members(WORDING)))


def _sorted(slugs: Iterable[str]) -> tuple[Rule, ...]:
    return tuple(sorted(map(rule, slugs), key=lambda found: found.code))


def find_rules(selector: str) -> tuple[Rule, ...]:
    """The rules that a code, a code's beginning (``RL3``) or a slug names; empty when it names none."""
    wanted = selector.strip()
    by_code = wanted.upper().startswith("RL")
    return tuple(
        known
        for known in rules()
        if (
            known.code.startswith(wanted.upper())
            if by_code
            else known.slug == wanted.replace("_", "-").lower()
        )
    )


def near_rules(selector: str) -> tuple[str, ...]:
    """The beginnings of codes, one digit longer than what ``selector`` shares with any; empty where it is no code.

    ``RL9`` comes near ``RL1``, ``RL2``, …; ``RL399`` near ``RL390``, ``RL391``, …
    """
    wanted = selector.strip().upper()
    if not wanted.startswith("RL"):
        return ()
    codes = [known.code for known in rules()]
    shared = next(end for end in range(len(wanted), 1, -1) if any(c.startswith(wanted[:end]) for c in codes))
    return tuple(dict.fromkeys(code[: shared + 1] for code in codes if code.startswith(wanted[:shared])))


__all__ = ["LOOKING", "WORDING", "Rule", "find_rules", "looking_rules", "near_rules", "rule", "rules"]
