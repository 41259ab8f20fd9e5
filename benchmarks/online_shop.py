"""Whether the tools of environments/online-shop keep the books of a shop that others recorded.

``--cases FOLDER`` holds ``retail_subset_first40.json`` (users, orders, products), ``retail_tools.json`` (the tools'
specs) and ``retail_tasks_dev.jsonl`` (tasks with their calls, what each call answered, and the difference that they
made). An environment is built of them in a temporary folder, with our tools and their descriptions, and every plan is
played.

Orders that the subset lacks are taken from what the calls answered, with the recorded difference undone; of their
customers and products as much is made up as the plan needs: ways to pay by their ids, and the new items at the prices
that the order, or the recorded price difference, names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from rollout.check import check
from rollout.check.report import environment_in
from rollout.engine import Rollout, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment
from rollout.language.compare import compare
from rollout.models import connect
from rollout.source import read_one

OURS = Path(__file__).parent.parent / "environments" / "online-shop"
Json = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=Path, required=True, metavar="FOLDER")
    folder = parser.parse_args().cases
    start = json.loads((folder / "retail_subset_first40.json").read_text(encoding="utf-8"))
    lines = (folder / "retail_tasks_dev.jsonl").read_text(encoding="utf-8").split("\n")
    recorded = [json.loads(line) for line in lines if line]
    made_up = fill_gaps(start, recorded)
    with TemporaryDirectory() as temporary:
        environment = rebuild(Path(temporary) / "shop", folder, start, recorded)
    rollouts = asyncio.run(play(environment))
    answers = matching = states = 0
    for task, rollout in zip(recorded, rollouts, strict=True):
        wrong = difference(start, task, rollout)
        states += wrong is None
        if wrong is not None:
            print(f"task {task['i']}: {wrong}")
        for made, call in zip(task["gold_trace"], rollout.trace.calls, strict=True):
            answers += 1
            matching += same_answer(made["observation"], call.content)
    print(f"{made_up} of the orders were not in the subset, and were taken from the recordings.")
    print(f"{states} of {len(recorded)} plans end in the recorded state.")
    print(f"{matching} of {answers} calls answer what was recorded.")
    return 0 if states == len(recorded) else 1


def rebuild(home: Path, cases: Path, start: Json, recorded: list[Json]) -> Environment:
    """The recorded shop as an environment in ``home``, checked. Raises SystemExit where it is not sound."""
    config = yaml.safe_load((OURS / "config.yaml").read_text(encoding="utf-8"))
    specs = {
        tool["function"]["name"]: tool["function"]
        for tool in json.loads((cases / "retail_tools.json").read_text(encoding="utf-8"))
    }
    if missing := specs.keys() ^ {tool["name"] for tool in config["tools"]}:
        raise SystemExit(f"The tools differ: {', '.join(sorted(missing))}.")
    for tool in config["tools"]:
        tool["description"] = specs[tool["name"]]["description"]
        tool["paramsSchema"] = specs[tool["name"]]["parameters"]
    config["initialState"] = {**start, "handed_over": False}
    home.mkdir()
    written = {"template": "custom", "name": "Recorded shop", "description": "As it was recorded."}
    (home / "environment.yaml").write_text(json.dumps(written), encoding="utf-8")
    (home / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (home / "tasks.jsonl").write_text(
        "".join(json.dumps(task_of(start, task)) + "\n" for task in recorded), encoding="utf-8"
    )
    report = check(read_one(home))
    # A recorded plan may be to do nothing.
    errors = [
        found for found in report.diagnostics if found.severity == "error" and found.slug != "holds-at-start"
    ]
    if errors:
        raise SystemExit("\n".join(f"{found.span}: {found.message}" for found in errors))
    return environment_in(report.document)


def task_of(start: Json, task: Json) -> Json:
    """A recorded task in our form: the state it ends in is its ground truth, its plan the solution."""
    end = after(start, task["gold_state_diff"])
    return {
        "id": f"task-{task['i']}",
        "instruction": task["instruction"],
        "hidden_ground_truth": {key: end[key] for key in end if end[key] != start[key]} or end,
        "solution": [{"tool": made["name"], "args": made["arguments"]} for made in task["gold_trace"]],
    }


def fill_gaps(start: Json, recorded: list[Json]) -> int:
    """Adds to ``start`` what the plans need and it lacks. Returns how many orders that were."""
    before = len(start["orders"])
    for task in recorded:
        ends = {
            order["order_id"]: order
            for made in task["gold_trace"]
            if isinstance(order := json.loads(made["observation"]), dict) and "order_id" in order
        }
        for number, end in ends.items():
            if number not in start["orders"]:
                start["orders"][number] = undone(end, number, task["gold_state_diff"])
        for made in task["gold_trace"]:
            known = made["arguments"]
            order = start["orders"][known["order_id"]]
            paid = [each["payment_method_id"] for each in order["payment_history"]]
            add_customer(start, order, [*paid, known.get("payment_method_id", paid[0])], task)
            end = ends[known["order_id"]]
            for old, new in zip(known.get("item_ids", ()), known.get("new_item_ids", ()), strict=False):
                add_variant(start, order, end, old, new)
    return len(start["orders"]) - before


def undone(end: Json, number: str, changes: list[Json]) -> Json:
    """An order as it was before the recorded changes."""
    order: Json = json.loads(json.dumps(end))
    for change in changes:
        above, _, path = change["path"].partition(f"/orders/{number}/")
        if above or not path:
            continue
        *steps, last = path.split("/")
        here: Any = order
        for step in steps:
            here = here[int(step)] if isinstance(here, list) else here[step]
        if change.get("op") == "add":
            del here[last]
        else:
            here[last] = change["before"]
    return order


def add_customer(start: Json, order: Json, methods: list[str], task: Json) -> None:
    """The customer of an order, with ways to pay; a gift card has the recorded balance, or plenty."""
    user = start["users"].setdefault(
        order["user_id"],
        {
            "name": {"first_name": "", "last_name": ""},
            "address": order["address"],
            "email": "",
            "payment_methods": {},
            "orders": [],
        },
    )
    balances = {
        change["path"].split("/")[-2]: change["before"]
        for change in task["gold_state_diff"]
        if change["path"].endswith("/balance")
    }
    for method in methods:
        made: Json = {"source": method.rpartition("_")[0], "id": method}
        if made["source"] == "gift_card":
            made["balance"] = balances.get(method, 10_000)
        known = user["payment_methods"].setdefault(method, made)
        if method in balances:
            known["balance"] = balances[method]


def add_variant(start: Json, order: Json, end: Json, old: str, new: str) -> None:
    """The variant that an item is replaced by. In an exchange the first new item makes up the whole difference."""
    item = next(each for each in order["items"] if each["item_id"] == old)
    product = start["products"].setdefault(
        item["product_id"], {"name": item["name"], "product_id": item["product_id"], "variants": {}}
    )
    replaced = next((each for each in end["items"] if each["item_id"] == new), item)
    price = replaced["price"]
    if end.get("exchange_new_items", [None])[0] == new:
        price = round(price + end["exchange_price_difference"], 2)
    variant = {"item_id": new, "options": replaced["options"], "available": True, "price": price}
    product["variants"].setdefault(new, variant)


def after(start: Json, changes: list[Json]) -> Json:
    """The state that a recorded difference makes of the start state."""
    state: Json = json.loads(json.dumps(start))
    for change in changes:
        *above, last = change["path"].split("/")[1:]
        here: Any = state
        for step in above:
            here = here[int(step)] if isinstance(here, list) else here[step]
        here[int(last) if isinstance(here, list) else last] = change["after"]
    return state


async def play(environment: Environment) -> list[Rollout]:
    """Every task's plan, played by the oracle."""
    longest = max(len(task.solution or ()) for task in environment.tasks)
    workflow = EnvironmentWorkflow(environment, max_tool_calls=longest)
    grader, oracle = VerifierGrader(environment), connect("oracle")
    return [await roll_out(workflow, grader, task, oracle) for task in environment.tasks]


def difference(start: Json, task: Json, rollout: Rollout) -> str | None:
    """How the state that a rollout ended in differs from the recorded one; None where it does not."""
    if rollout.trace.failure is not None:
        return rollout.trace.failure.sentence
    if failed := [call.error for call in rollout.trace.calls if call.error]:
        return failed[0]
    ended = {key: value for key, value in (rollout.trace.final_state or {}).items() if key in start}
    return compare(after(start, task["gold_state_diff"]), ended)


def same_answer(recorded: str, content: str) -> bool:
    """Whether a call answered the recorded value: JSON by value, anything else as text."""
    answer = json.loads(content)
    try:
        return compare(json.loads(recorded), answer) is None
    except ValueError:
        return bool(recorded == answer)


if __name__ == "__main__":
    raise SystemExit(main())
