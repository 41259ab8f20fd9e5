"""How many environment folders validate in a second."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Limit, command, report, rollout, time_in_turn

FOLDERS = 1_000
VALIDATE = f"rollout validate ({FOLDERS:,} folders)"


def main() -> None:
    with TemporaryDirectory() as temporary:
        root = Path(temporary)
        for number in range(FOLDERS):
            write_environment(root / f"refund-{number:04}", number)
        measured = time_in_turn({VALIDATE: command(rollout(), "validate", root)}, repeat=3)
    rate = FOLDERS / measured[0].best
    report("Folders", measured, [Limit("folders", rate, 150, " a second", at_least=True)])


def write_environment(folder: Path, number: int) -> None:
    """A small but whole environment in four files: two tools, a fixture, three tasks, three primitives."""
    folder.mkdir()
    (folder / "environment.yaml").write_text(
        f"name: Refunds of shop {number}\ntemplate: workflow\ndescription: Customers ask for their money back.\n",
        encoding="utf-8",
    )
    (folder / "config.yaml").write_text(
        "tools:\n"
        "  - name: get_order\n    kind: lookup\n    fromArray: orders\n    matchField: id\n"
        "    paramsSchema: {id: string}\n"
        "  - name: refund\n    kind: action\n    stateArray: refunds\n"
        "    paramsSchema: {order_id: string, amount: number}\n"
        "fixtures:\n  orders:\n"
        + "".join(f"    - {{id: O-{order}, customer: Alice, amount: {order}00}}\n" for order in range(1, 6))
        + "initialMutableState:\n  refunds: []\n",
        encoding="utf-8",
    )
    (folder / "tasks.jsonl").write_text(
        "".join(
            f'{{"instruction": "Refund order O-{order} in full.", "split": "{split}",'
            f' "hidden_ground_truth": {{"refunds": [{{"order_id": "O-{order}", "amount": {order}00}}]}}}}\n'
            for order, split in ((1, "dev"), (2, "test"), (3, "train"))
        ),
        encoding="utf-8",
    )
    (folder / "verifier.yaml").write_text(
        "primitives:\n"
        "  - {name: outcome, type: ground_truth_match, weight: 4}\n"
        "  - {name: looked up, type: tool_was_called, tool: get_order}\n"
        "  - {name: no failed calls, type: no_tool_errors}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
