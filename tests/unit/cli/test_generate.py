"""`rollout generate`: what a model wrote is written down when it holds, and shown as rejected when it does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from servers.chat import ChatServer, refuses, says
from servers.published import KEY, Published
from typer.testing import CliRunner, Result

from rollout.check.report import environment_in
from rollout.cli import app
from rollout.compile import compile_environment
from rollout.source import read_one

Run = Callable[..., Result]

DESK: dict[str, Any] = {
    "description": "A desk that refunds orders.",
    "config": {
        "tools": [
            {
                "name": "refund",
                "kind": "action",
                "description": "Pay an order back.",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            }
        ],
        "initialMutableState": {"refunds": []},
    },
    "tasks": [
        {
            "id": "whole",
            "instruction": "Refund order O-1 for $100.",
            "hiddenGroundTruth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
            "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}, {"answer": "Done."}],
        }
    ],
    "verifier": {"primitives": [{"name": "right state", "type": "ground_truth_match"}]},
}
LOOSE = {
    **DESK,
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
    work.mkdir()
    monkeypatch.chdir(work)
    with ChatServer([wrote(DESK)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-desk-4f6c5cce93aa71")
        (work / "rollout.toml").write_text(
            'endpoint = "local"\n[prices."openai/gpt-4o"]\ninput = 2.5\noutput = 10\n'
        )
        yield server


@pytest.fixture
def generate(model: ChatServer) -> Run:
    def invoke(*arguments: str, stdin: str | None = None) -> Result:
        common = ["--template", "workflow", "--model", "openai/gpt-4o"]
        return CliRunner().invoke(app, ["generate", *arguments, *common], input=stdin)

    return invoke


def entries() -> list[str]:
    return sorted(path.name for path in Path().iterdir() if path.name != "rollout.toml")


def digest(path: str) -> str:
    return compile_environment(environment_in(read_one(path))).digest


def test_a_folder_is_written_that_validates_and_is_proved(generate: Run, model: ChatServer) -> None:
    model.play(wrote(LOOSE), wrote(DESK))
    done = generate("A desk that refunds orders.", "-o", "envs/refund-desk")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"envs/refund-desk: 1 task, proved, {digest('envs/refund-desk')}\n"
    assert done.stderr == "note: 2 rounds, 200 + 20 tokens, $0.0007\n"
    environment = environment_in(read_one("envs/refund-desk"))
    assert (environment.slug, environment.name) == ("refund-desk", "Refund Desk")
    assert [(task.id, task.solution) for task in environment.tasks] == [
        ("whole", DESK["tasks"][0]["solution"])
    ]
    assert CliRunner().invoke(app, ["prove", "envs/refund-desk", "--strict"]).exit_code == 0


def test_what_never_holds_leaves_nothing(generate: Run, model: ChatServer) -> None:
    model.play(wrote(LOOSE))
    done = generate("A desk.", "-o", "desk")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "desk/verifier.yaml:3:5: error: An agent that calls every tool once" in done.stderr
    assert "was asked 3 times, and what it wrote does not hold. Nothing was written." in done.stderr
    assert "note: 3 rounds, 300 + 30 tokens, $0.0010" in done.stderr
    assert entries() == []


def test_what_does_not_hold_can_be_kept_to_look_at(generate: Run, model: ChatServer) -> None:
    model.play(wrote(LOOSE))
    done = generate("A desk.", "-o", "desk", "--keep")
    assert done.exit_code == 1
    assert entries() == ["desk.rejected"]
    assert "note: What was rejected is in “desk.rejected”." in done.stderr
    again = generate("A desk.", "-o", "desk", "--keep")
    assert again.exit_code == 2
    assert "There is something at “desk.rejected” already." in again.stderr


@pytest.mark.parametrize("answer", [says("No."), says(""), wrote([1]), wrote({**DESK, "tasks": "all"})])
def test_what_is_no_environment_leaves_nothing_either(generate: Run, model: ChatServer, answer: Any) -> None:
    model.play(answer)
    done = generate("A desk.", "--keep")
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(model.asked) == 3
    assert entries() == []
    assert "Nothing was written." in done.stderr


def test_a_python_file_says_the_same(generate: Run) -> None:
    assert generate("A desk.", "-o", "refund_desk.py", "--format", "python").exit_code == 0
    text = Path("refund_desk.py").read_text()
    assert (
        "from rollout import Environment, Task, action_tool, primitive, verifier_config, workflow_config"
        in text
    )
    assert "action_tool(\n" in text
    generate("A desk.", "-o", "refund-desk")
    assert digest("refund_desk.py") == digest("refund-desk")
    shown = generate("A desk.", "--format", "python", "--slug", "refund-desk")
    assert shown.stdout == text


HOSTILE = '\'); import os; os.system("touch hacked") #\n"""\n${args.x} \\'


def test_no_text_of_a_model_becomes_code(generate: Run, model: ChatServer) -> None:
    hostile = copy.deepcopy(DESK)
    hostile["description"] = HOSTILE
    hostile["config"]["description"] = HOSTILE
    hostile["config"]["tools"][0]["description"] = HOSTILE
    hostile["tasks"][0]["instruction"] = f"Refund order O-1 for $100. {HOSTILE.replace('${args.x}', '')}"
    hostile["verifier"]["primitives"][0]["name"] = HOSTILE
    model.play(wrote(hostile))
    done = generate("A desk.", "-o", "desk.py", "--format", "python", "--name", HOSTILE)
    if done.exit_code == 0:
        environment = environment_in(read_one("desk.py"))
        assert environment.config is not None
        assert environment.config["description"] == HOSTILE
        assert environment.name == HOSTILE
    assert done.exit_code == 0, done.output
    assert "hacked" not in entries()


def test_the_envelope_of_the_platform_is_shown_as_it_is(generate: Run) -> None:
    shown = json.loads(generate("A desk.", "--format", "json").stdout)
    assert shown == {**DESK, "_warnings": []}
    generate("A desk.", "--format", "json", "-o", "desk.json")
    assert json.loads(Path("desk.json").read_text()) == shown


@pytest.mark.parametrize("form", ["json", "python"])
def test_what_is_printed_commands_no_runner_and_no_terminal(
    generate: Run, model: ChatServer, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    words = "a\n::set-output name=a::b\n##[command]rm \x9b2J \x1b[2J \u202e"
    model.play(wrote({**DESK, "description": words}))
    done = generate("A desk.", "--format", form)
    assert done.exit_code == 0, done.output
    assert not {"\x9b", "\x1b", "\u202e"} & set(done.stdout)
    assert "##[" not in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    if form == "json":
        assert json.loads(done.stdout)["description"] == words
    else:
        names: dict[str, Any] = {}
        exec(compile(done.stdout, "desk.py", "exec"), names)
        assert names["env"].description == words


def test_a_description_is_read_from_a_file_or_from_stdin(generate: Run, model: ChatServer) -> None:
    Path("wish.md").write_text("A desk in a file.\n")
    assert generate("--from-file", "wish.md", "-o", "one").exit_code == 0
    assert generate("--from-file", "-", "-o", "two", stdin="A desk at stdin.").exit_code == 0
    assert [each.body["messages"][1]["content"].splitlines()[-1] for each in model.asked] == [
        "A desk in a file.",
        "A desk at stdin.",
    ]


def test_nothing_is_asked_where_nothing_could_be_written(generate: Run, model: ChatServer) -> None:
    Path("taken").mkdir()
    Path("taken/notes.txt").write_text("mine")
    for arguments, why in (
        (("A desk.", "-o", "taken"), "There is something at “taken” already."),
        (
            ("A desk.", "-o", "rollout.toml", "--format", "json"),
            "There is something at “rollout.toml” already.",
        ),
        (("A desk.", "--format", "yaml"), "There is no format “yaml”."),
        (("A desk.", "--slug", "../up"), "“../up” cannot be an environment's slug"),
        (("A desk.", "--from-file", "wish.md"), "The description is to be given once."),
        (("--from-file", "nowhere.md"), "“nowhere.md” cannot be read"),
        ((" ",), "The description is empty."),
        (("A desk.", "--max-cost", "nan"), "--max-cost is no number."),
    ):
        done = generate(*arguments)
        assert (done.exit_code, done.stdout) == (2, ""), arguments
        assert why in done.stderr
    assert model.asked == []
    assert Path("taken/notes.txt").read_text() == "mine"


def test_a_limit_to_the_cost_ends_it(generate: Run, model: ChatServer) -> None:
    model.play(wrote(LOOSE))
    done = generate("A desk.", "--max-cost", "0.0003")
    assert done.exit_code == 1
    assert len(model.asked) == 1
    assert "The limit of $0.00 is reached" in done.stderr
    assert "note: 1 round, 100 + 10 tokens, $0.0003" in done.stderr
    assert entries() == []


def test_a_provider_that_refuses_is_told(generate: Run, model: ChatServer) -> None:
    model.play(refuses(401, "No such key."))
    done = generate("A desk.")
    assert done.exit_code == 3
    assert "“openai/gpt-4o” did not answer." in done.stderr
    assert "sk-desk" not in done.output


def test_the_whole_result_is_one_envelope(generate: Run) -> None:
    told = json.loads(generate("A desk.", "-o", "desk", "--json").stdout)["data"]
    assert told["digest"] == digest("desk")
    assert told["environment"]["tasks"] == DESK["tasks"]
    assert told["usage"]["rounds"] == 1
    assert "desk/tasks.jsonl" in told["files"]


@pytest.fixture
def hosted(model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Published]:
    """A platform that has a model of its own."""
    with Published() as platform:
        monkeypatch.setenv("ROLLOUT_ENDPOINT", platform.address)
        monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
        yield platform


def hosts(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["generate", *arguments, "--template", "workflow"])


def test_a_platform_with_a_model_of_its_own_is_believed_no_more(hosted: Published, model: ChatServer) -> None:
    hosted.drafts = [{**LOOSE, "_warnings": []}, {**DESK, "_warnings": []}]
    done = hosts("A desk.", "-o", "desk")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"desk: 1 task, proved, {digest('desk')}\n"
    first, second = hosted.wishes
    assert first == {"description": "A desk.", "template": "workflow"}
    assert "false-pass" in second["instruction"]
    assert second["current"]["verifier"] == LOOSE["verifier"]
    # Ids and solutions are nothing that is published.
    assert set(second["current"]["tasks"][0]) == {"instruction", "hiddenGroundTruth"}
    assert model.asked == []


def test_what_it_writes_wrong_three_times_leaves_nothing(hosted: Published) -> None:
    hosted.drafts = [LOOSE] * 5
    done = hosts("A desk.")
    assert (done.exit_code, done.stdout, entries()) == (1, "", [])
    assert "It does not hold, so nothing was written." in done.stderr
    assert len(hosted.wishes) == 3


def test_what_it_answers_may_be_no_environment(hosted: Published) -> None:
    hosted.drafts = [{"config": {}, "tasks": [{"instruction": 5}]}]
    done = hosts("A desk.")
    assert (done.exit_code, entries()) == (3, [])
    assert "is no environment: “instruction” of task 0" in done.stderr


def test_what_is_its_own_is_left_out(hosted: Published) -> None:
    hosted.drafts = [{**DESK, "id": "e1", "tasks": [{**DESK["tasks"][0], "createdAt": "now"}]}]
    done = hosts("A desk.", "-o", "desk")
    assert done.exit_code == 0, done.output
    assert "note: “id” is the platform's own and was left out." in done.stderr
    assert "note: “tasks[].createdAt” is the platform's own and was left out." in done.stderr


def test_a_limit_that_it_does_not_keep_is_not_promised(hosted: Published) -> None:
    hosted.drafts = [DESK]
    done = hosts("A desk.", "--max-cost", "1")
    assert done.exit_code == 2
    assert "keeps no limit to the cost." in done.stderr
    assert hosted.wishes == []


def test_somebody_has_to_write_it(model: ChatServer) -> None:
    done = hosts("A desk.")
    assert done.exit_code == 2
    assert "No model is named to write it." in done.stderr
