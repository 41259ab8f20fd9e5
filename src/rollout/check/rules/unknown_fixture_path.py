"""A lookup's `fixturePath` leads nowhere.

The path starts at the fixtures: `orders.${args.order_id}` is the fixture `orders`, and in it the key that the agent
gives. When a step of it is in no fixture, every call of the tool fails, whatever the agent asks for. The same holds
where the path wants a key in a list: a list of rows is searched with `fromArray` and `matchField`.

Before:

    tools:
      - {name: get_order, kind: lookup, fixturePath: "order.${args.order_id}"}
    fixtures:
      orders: {O-1: {amount: 100}}

After:

    tools:
      - {name: get_order, kind: lookup, fixturePath: "orders.${args.order_id}"}
    fixtures:
      orders: {O-1: {amount: 100}}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView, follow, keys_of, step_of
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import PathError, write

CODE = "RL329"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.is_sound("config", "fixtures"):
        return
    for tool in subject.tool_views:
        text = tool.item.text("fixturePath")
        if not text or not subject.is_sound(*tool.route, "fixturePath"):
            continue
        try:
            path = parse_path_template(text)
        except PathError:
            continue
        said = _judge(subject, tool, path)
        if said is not None:
            yield Finding((*tool.route, "fixturePath"), *said)


def _judge(subject: Subject, tool: ToolView, path: PathTemplate) -> tuple[str, str | None] | None:
    reached, taken = follow(subject.fixtures, path)
    if taken == len(path.pieces):
        return _key_into_list(subject, tool, path)
    shown = quoted(path.text)
    if taken in path.filled:
        # Nothing stands below: an empty fixture may be filled later, a plain value never is.
        if any(isinstance(value, dict | list) for value in reached):
            return None
        return f"{shown} looks inside {quoted(_written(path, taken))}, which holds nothing to look in.", (
            f"End the path at {quoted(_written(path, taken))}, or make an object of what is there."
        )
    name = str(step_of(path.pieces[taken]))
    keys = keys_of(reached)
    if taken == 0:
        hint = did_you_mean(name, keys, kind="fixtures")
        if hint is None or not hint.startswith("Did"):
            if name in ("fixtures", "fixture"):
                hint = f"The path starts inside the fixtures: {quoted(_without_first(path))}."
            elif name in subject.initial_state:
                hint = f"{quoted(name)} is in the state; a lookup reads it with fromArray and matchField."
            elif not keys:
                hint = f"Add it: fixtures/{name}.yaml, or config.fixtures.{name}."
        return f"There is no fixture {quoted(name)}, so the tool {tool} never finds anything.", hint
    home = quoted(_written(path, taken))
    return (
        f"{shown} leads nowhere: nothing in {home} has {quoted(name)}.",
        did_you_mean(name, keys, kind="keys there") or _otherwise(reached, name, home, keys),
    )


def _otherwise(reached: list[Any], name: str, home: str, keys: list[str]) -> str:
    if any(isinstance(value, list) for value in reached):
        return (
            f"{home} is a list: search it with fromArray and matchField, or take a row by its number, from 0."
        )
    return (
        f"Its only key is {quoted(keys[0])}."
        if keys
        else f"Add {quoted(name)} to it, or end the path before."
    )


def _key_into_list(subject: Subject, tool: ToolView, path: PathTemplate) -> tuple[str, str | None] | None:
    for number in sorted(path.filled):
        before = PathTemplate(
            path.text, path.pieces[:number], False, frozenset(n for n in path.filled if n < number)
        )
        homes, _ = follow(subject.fixtures, before)
        if not homes or not all(isinstance(home, list) for home in homes):
            continue
        rows = [row for home in homes for row in home if isinstance(row, dict)]
        field = _compared(tool, path, number, rows)
        if field is not None:
            name = write(before.known)
            return (
                f"{quoted(path.text)} wants a key in {quoted(name)}, which is a list, so nothing is ever found.",
                f"Use “fromArray: {name}” and “matchField: {field}”, or key the fixture by {field}.",
            )
    return None


def _compared(tool: ToolView, path: PathTemplate, number: int, rows: list[dict[str, Any]]) -> str | None:
    """The field of the rows that the argument plainly means; None where it may as well be an index."""
    piece = path.pieces[number]
    if isinstance(piece, int) or len(piece) != 1:
        return None
    steps = getattr(piece[0], "steps", ())
    parameter = str(steps[-1]) if steps else ""
    schema = tool.parameters.schema.get("properties", {}).get(parameter)
    if isinstance(schema, dict) and schema.get("type") in ("integer", "number"):
        return None
    for field in keys_of(rows):
        if field and (parameter == field or parameter.endswith(f"_{field}")):
            values = [row[field] for row in rows if field in row]
            if not any(
                isinstance(value, int) or (isinstance(value, str) and value.isdigit()) for value in values
            ):
                return field
    return None


def _written(path: PathTemplate, steps: int) -> str:
    text = ""
    for step in map(step_of, path.pieces[:steps]):
        text += f"[{step}]" if isinstance(step, int) else f"{'.' if text else ''}{step}"
    return text


def _without_first(path: PathTemplate) -> str:
    return path.text.partition(".")[2]
