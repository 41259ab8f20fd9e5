"""`rollout refine`: a model changes what it was told to, and the files keep everything else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pseudo_terminal import at_terminal
from servers.chat import ChatServer, Connection, says
from typer.testing import CliRunner, Result

from rollout.check.report import environment_in
from rollout.cli import app
from rollout.environment import Task
from rollout.source import read_one

Run = Callable[..., Result]

FILES = {
    "environment.yaml": "# Who the desk is.\nname: Refunds  # for people\ntemplate: workflow\n",
    "config.yaml": """\
# What the agent gets.
tools:
  - {name: refund, kind: action, description: Pay an order back., stateArray: refunds,
     paramsSchema: {order_id: string, amount: number}}  # one tool is enough
initialMutableState: {refunds: []}
""",
    "verifier.yaml": "primitives:\n  - {name: right state, type: ground_truth_match}  # no more\n",
    "tasks.jsonl": "".join(
        f"{json.dumps(each)}\n"
        for each in (
            {
                "id": "first",
                "instruction": "Refund order O-1 for $100.",
                "hidden_ground_truth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
                "solution": [
                    {"tool": "refund", "args": {"order_id": "O-1", "amount": 100}},
                    {"answer": "My own words."},
                ],
            },
            {
                "id": "second",
                "split": "test",
                "instruction": "Refund order O-2 for $20.",
                "hidden_ground_truth": {"refunds": [{"order_id": "O-2", "amount": 20}]},
            },
        )
    ),
    "README.md": "Notes of ours.\n",
}


def task(order: str, amount: int, split: str = "dev", key: str = "order_id") -> dict[str, Any]:
    made = {key: order, "amount": amount}
    return {
        "instruction": f"Refund order {order} for ${amount}.",
        "hiddenGroundTruth": {"refunds": [made]},
        "split": split,
        "solution": [{"tool": "refund", "args": made}, {"answer": "Done."}],
    }


WAS: dict[str, Any] = {
    "config": {
        "tools": [
            {
                "name": "refund",
                "kind": "action",
                "description": "Pay an order back.",
                "paramsSchema": {"order_id": "string", "amount": "number"},
                "stateArray": "refunds",
            }
        ],
        "initialMutableState": {"refunds": []},
    },
    "tasks": [task("O-1", 100), task("O-2", 20, "test")],
    "verifier": {"primitives": [{"name": "right state", "type": "ground_truth_match", "weight": 1}]},
}
MORE = {**WAS, "tasks": [*WAS["tasks"], task("O-3", 5, "train")]}
LOOSE = {
    **MORE,
    "verifier": {
        "primitives": [{"name": "one refund", "type": "state_match", "expected": {"refunds.length": 1}}]
    },
}


def wrote(value: Any) -> Any:
    return says(json.dumps(value))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    for name in ("ROLLOUT_API_KEY", "XDG_CONFIG_HOME", "CI", "ROLLOUT_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    work = tmp_path / "work"
    (work / "desk").mkdir(parents=True)
    for path, text in FILES.items():
        (work / "desk" / path).write_text(text)
    monkeypatch.chdir(work)
    with ChatServer([wrote(MORE)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-desk-4f6c5cce93aa71")
        (work / "rollout.toml").write_text('endpoint = "local"\n')
        yield server


@pytest.fixture
def refine(model: ChatServer) -> Run:
    def invoke(path: str, instruction: str, *arguments: str) -> Result:
        return CliRunner().invoke(app, ["refine", path, instruction, "--model", "openai/gpt-4o", *arguments])

    return invoke


def changed(folder: str = "desk") -> set[str]:
    now = {path.name: path.read_text() for path in Path(folder).iterdir()}
    return {name for name in {*now, *FILES} if now.get(name) != FILES.get(name)}


def tasks(folder: str = "desk") -> list[Task]:
    return environment_in(read_one(folder)).tasks


def test_only_what_changes_is_written_and_it_is_proved(refine: Run, model: ChatServer) -> None:
    done = refine("desk", "One more task.", "--yes")
    assert done.exit_code == 0, done.output
    assert "Refund order O-3 for $5." in done.stdout
    assert done.stdout.endswith("desk: 1 file written\n")
    assert changed() == {"tasks.jsonl"}
    first, second, third = tasks()
    assert (first.id, first.solution and first.solution[-1]) == ("first", {"answer": "My own words."})
    assert (second.id, second.solution) == ("second", None)
    assert (third.split, third.solution) == ("train", MORE["tasks"][2]["solution"])
    assert CliRunner().invoke(app, ["prove", "desk", "--strict"]).exit_code == 0
    asked = model.asked[0].body["messages"][1]["content"]
    assert "One more task." in asked
    assert "My own words." not in asked
    assert '"first"' not in asked


def test_comments_beside_a_change_stay(refine: Run, model: ChatServer) -> None:
    other = copy.deepcopy(WAS)
    other["config"]["tools"][0]["description"] = "Pay an order back, whole or in part."
    model.play(wrote(other))
    assert refine("desk", "Say that a part can be paid back.", "--yes").exit_code == 0
    assert changed() == {"config.yaml"}
    text = Path("desk/config.yaml").read_text()
    assert "# What the agent gets." in text
    assert "# one tool is enough" in text
    assert "whole or in part" in text


def test_a_solution_that_solves_no_more_gives_way(refine: Run, model: ChatServer) -> None:
    other = copy.deepcopy(WAS)
    other["config"]["tools"][0]["paramsSchema"] = {"order": "string", "amount": "number"}
    other["tasks"] = [task("O-1", 100, key="order"), task("O-2", 20, "test", key="order")]
    model.play(wrote(other))
    done = refine("desk", "Call it order.", "--yes")
    assert done.exit_code == 0, done.output
    assert [(each.id, each.solution) for each in tasks()] == [
        ("first", other["tasks"][0]["solution"]),
        ("second", other["tasks"][1]["solution"]),
    ]


def test_what_does_not_hold_changes_nothing(refine: Run, model: ChatServer) -> None:
    model.play(wrote(LOOSE))
    done = refine("desk", "One more task.", "--yes")
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(model.asked) == 3
    assert "desk/verifier.yaml:3:5: error: An agent that calls every tool once" in done.stderr
    assert "Nothing was written." in done.stderr
    assert changed() == set()


def test_a_new_folder_leaves_the_old_one_alone(refine: Run) -> None:
    done = refine("desk", "One more task.", "-o", "envs/desk")
    assert done.exit_code == 0, done.output
    assert changed() == set()
    assert changed("envs/desk") == {"tasks.jsonl"}
    assert len(tasks("envs/desk")) == 3
    assert refine("desk", "One more task.", "-o", "envs/desk").exit_code == 2


def test_nobody_is_asked_where_nobody_could_agree(refine: Run, model: ChatServer) -> None:
    done = refine("desk", "One more task.")
    assert done.exit_code == 2
    assert "Nobody is here to look at the change." in done.stderr
    assert model.asked == []


def test_at_a_terminal_it_asks(model: ChatServer) -> None:
    arguments = ("refine", "desk", "One more task.", "--model", "openai/gpt-4o")
    with at_terminal(*arguments, cwd=Path.cwd()) as terminal:
        terminal.expect("Change “desk” so? [y/N] ")
        terminal.type("n\r")
        assert terminal.wait() == 1
    assert changed() == set()
    with at_terminal(*arguments, cwd=Path.cwd()) as terminal:
        terminal.expect("Change “desk” so? [y/N] ")
        terminal.type("y\r")
        assert terminal.wait() == 0
    assert changed() == {"tasks.jsonl"}


def test_what_somebody_else_wrote_meanwhile_is_not_undone(refine: Run, model: ChatServer) -> None:
    def meanwhile(connection: Connection) -> None:
        Path("desk/verifier.yaml").write_text(FILES["verifier.yaml"] + "# mine\n")
        wrote(MORE)(connection)

    model.play(meanwhile)
    done = refine("desk", "One more task.", "--yes")
    assert done.exit_code == 2
    assert "“desk” was changed meanwhile." in done.stderr
    assert changed() == {"verifier.yaml"}


def test_nothing_to_change_is_nothing_wrong(refine: Run, model: ChatServer) -> None:
    Path("desk/tasks.jsonl").write_text(FILES["tasks.jsonl"].splitlines()[0] + "\n")
    model.play(wrote({**WAS, "tasks": WAS["tasks"][:1]}))
    done = refine("desk", "Leave it.", "--yes")
    assert done.exit_code == 0, done.output
    assert Path("desk/tasks.jsonl").read_text() == FILES["tasks.jsonl"].splitlines()[0] + "\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        (
            "verifier.yaml",
            "type: ground_truth_match",
            "type: python, function: 'j.py:j'",
            "“python” is not taken",
        ),
        ("config.yaml", "kind: action", "kind: acton", "“acton”"),
    ],
)
def test_what_no_model_can_change_is_not_sent(
    refine: Run, model: ChatServer, file: str, old: str, new: str, why: str
) -> None:
    Path("desk/j.py").write_text("def j(case, options):\n    return 1.0, 'fine'\n")
    Path("desk", file).write_text(FILES[file].replace(old, new))
    done = refine("desk", "One more task.", "--yes")
    assert done.exit_code in (1, 2)
    assert why in done.stderr
    assert model.asked == []


def test_the_change_is_told_in_one_envelope(refine: Run) -> None:
    told = json.loads(refine("desk", "One more task.", "--yes", "--json").stdout)["data"]
    assert told["written"] == ["tasks.jsonl"]
    assert told["usage"]["rounds"] == 1
