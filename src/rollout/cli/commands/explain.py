"""`rollout explain`: the long story of a rule, or the list of all rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli import completions

if TYPE_CHECKING:
    from rollout.check.rulebook import Rule


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULE]",
            autocompletion=completions.rules,
            help="A code (RL301), the beginning of one (RL3), or a slug (duplicate-task-id).",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Tell the long story of a rule, or list all rules.

    It says what the rule finds, why that matters and how to mend it. Without a rule, all are listed.

    Example: `rollout explain duplicate-task-id`
    """
    from rollout.check.rulebook import find_rules, rules
    from rollout.cli.inputs import refuse_rule
    from rollout.cli.output import show, show_json

    known = rules()
    found = known if rule is None else find_rules(rule)
    if not found:
        refuse_rule(str(rule))
    if as_json:
        show_json("explain", [_entry(entry) for entry in found])
    elif rule is not None and len(found) == 1:
        show(_page(found[0]))
    else:
        show(_listing(found))


def _page(rule: Rule) -> str:
    return f"{rule.code} {rule.slug} ({rule.severity})\n\n{rule.page}"


def _listing(rules: Sequence[Rule]) -> str:
    widest = max(len(rule.slug) for rule in rules)
    lines = [f"{rule.code}  {rule.slug:<{widest}}  {rule.severity:<7}  {rule.summary}" for rule in rules]
    return "\n".join(line.rstrip() for line in lines)


def _entry(rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code,
        "slug": rule.slug,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "page": rule.page,
    }


__all__ = ["explain"]
