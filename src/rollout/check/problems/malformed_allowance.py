"""An allow comment that cannot be understood.

`# rollout: allow <slug> — reason` silences one rule on one line; several slugs are told apart by commas. It needs the
slug (or code) of each rule, a dash, and a reason that a reviewer can weigh. Errors of reading and of shape (RL1nn,
RL2nn) cannot be allowed: the platform would refuse the environment all the same.

Before:

    expected: {refunds.length: 3}  # rollout: allow duplicate-primitive

After:

    expected: {refunds.length: 3}  # rollout: allow duplicate-primitive — both count until the split in May
"""

from __future__ import annotations

from difflib import get_close_matches

from rollout.check.rulebook import rules
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL151"
SEVERITY = Severity.ERROR


_FORM = "Write it as “# rollout: allow <slug> — why it is right here”; commas tell several slugs apart."


def describe(problem: Problem) -> tuple[str, str | None]:
    defect = problem.facts["defect"]
    if defect == "no reason":
        return "This allow comment gives no reason.", _FORM
    if defect == "no slug":
        return "This allow comment names no rule.", _FORM
    if defect == "verb":
        return f"A comment to rollout begins with “allow”, not {quoted(problem.facts['verb'])}.", _FORM
    slug = problem.facts["slug"]
    if defect == "no dash":
        return f"A dash is missing between {quoted(slug)} and the reason of this allow comment.", _FORM
    if defect == "not silenceable":
        return (
            f"“{slug}” cannot be allowed: the environment cannot be read or compiled with that defect.",
            "Mend the defect; only rules from RL300 on, and warnings, can be allowed.",
        )
    close = get_close_matches(slug, [known.slug for known in rules()], n=1)
    hint = f"Did you mean “{close[0]}”?" if close else "“rollout explain” lists all rules."
    return f"There is no rule “{slug}” to allow.", hint
