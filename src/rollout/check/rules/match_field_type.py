"""A lookup compares its argument with a field of another type, so that it never finds a row.

Values are compared by type: `"100"` is not 100. Where the parameter that `matchField` names is declared a number and
every row holds text there, or the other way round, no call ever finds anything. Cells of a CSV file are always text.

Before:

    matchField: number
    paramsSchema: {number: integer}
    # fixtures/rooms.csv
    number,guest
    12,Ada

After:

    matchField: number
    paramsSchema: {number: string}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL345"
SEVERITY = Severity.ERROR

_NUMBERS = (int, float)


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        name, field = tool.item.text("fromArray"), tool.item.text("matchField")
        properties = tool.parameters.schema.get("properties")
        declared = properties.get(field) if isinstance(properties, dict) else None
        kind = declared.get("type") if isinstance(declared, dict) else None
        if not name or not field or kind not in ("string", "number", "integer"):
            continue
        rows = subject.searched(name)
        if not isinstance(rows, list) or any(
            write.path.known[:1] in ((name,), ()) for write in subject.writes
        ):
            continue
        types = {type(row[field]) for row in rows if isinstance(row, dict) and field in row}
        if types == {str} and kind != "string":
            found, meant = "text", "string"
        elif types and types <= {*_NUMBERS} and kind == "string":
            found, meant = "a number", "number"
        else:
            continue
        takes = "text" if kind == "string" else "a number"
        yield Finding(
            (*tool.route, "matchField"),
            f"Every row of {quoted(name)} has {found} at {quoted(field)}, and the tool {tool} is called with {takes}, "
            "so it never finds one.",
            f"Declare the parameter as {meant}, or write the rows otherwise; cells of a CSV file are always text.",
        )
