"""`rollout test` of many rollouts, with a folder that keeps them, and `rollout traces`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from servers.chat import ChatServer, call, refuses, says
from typer.testing import CliRunner, Result

from rollout.cli import app

COMMIT = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q")
DESK = Path(__file__).parents[2] / "cases" / "models" / "desk"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return invoke


@pytest.fixture
def asking(run: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    def invoke(server: ChatServer, *arguments: str) -> Result:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-desk-4f6c5cce93aa71")
        return run("test", *arguments)  # type: ignore[no-any-return]

    return invoke


def keys(folder: str) -> list[tuple[str, int]]:
    lines = [json.loads(line) for line in (Path(folder) / "rollouts.jsonl").read_bytes().splitlines()]
    return [(line["trace"]["task"], line["trace"]["trial"]) for line in lines]


def test_a_run_in_a_folder_can_get_more_trials_and_other_tasks(run: Any) -> None:
    assert run("test", str(DESK), "-m", "oracle", "--limit", "1", "--out", "run").exit_code == 0
    more = run("test", "--resume", "run", "-n", "2", "--limit", "2", "--json")
    data = json.loads(more.stdout)["data"]
    assert sorted(keys("run")) == [("solved", 0), ("solved", 1), ("wrong", 0), ("wrong", 1)]
    assert (data["planned"], data["all"], data["passed"], data["run"]) == (4, 4, 2, "run")
    assert "rollouts" not in data
    before = (Path("run") / "rollouts.jsonl").read_bytes()
    again = run("test", "--resume", "run")
    assert "2 passed, 2 failed, 0 errors (passed 2 of 4 graded, 2 of 4 in all)" in again.stdout
    assert (Path("run") / "rollouts.jsonl").read_bytes() == before


def test_options_that_narrow_a_run_that_goes_on_are_for_once_only(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--all", "--out", "run")
    planned = json.loads((Path("run") / "summary.json").read_text())["planned"]
    lines = (Path("run") / "rollouts.jsonl").read_bytes().splitlines(keepends=True)
    (Path("run") / "rollouts.jsonl").write_bytes(lines[0])
    begun = (Path("run") / "run.json").read_bytes()
    some = run("test", "--resume", "run", "--limit", "2")
    assert f"2 of {planned} rollouts are done. Go on with: rollout test --resume run" in some.stderr
    assert json.loads((Path("run") / "summary.json").read_text())["planned"] == planned
    assert (Path("run") / "run.json").read_bytes() == begun
    rest = run("test", "--resume", "run")
    assert "Go on with" not in rest.stderr
    assert len(set(keys("run"))) == len(keys("run")) == planned == len(lines)


def test_tasks_that_a_run_did_not_have_are_its_own_from_then_on(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--task", "0", "--out", "run")
    run("test", "--resume", "run", "--task", "1")
    assert len(keys("run")) == 2
    (Path("run") / "rollouts.jsonl").write_bytes(b"")
    again = json.loads(run("test", "--resume", "run", "--json").stdout)["data"]
    assert (again["planned"], again["all"]) == (2, 2)
    more = json.loads(run("test", "--resume", "run", "-n", "2", "--json").stdout)["data"]
    assert (more["planned"], more["all"]) == (4, 4)
    wide = json.loads(run("test", "--resume", "run", "--all", "--json").stdout)["data"]
    assert wide["all"] == wide["planned"] > 4
    assert json.loads((Path("run") / "run.json").read_text())["options"]["all"] is True


def test_what_is_written_of_a_run_is_taken_for_no_environment(run: Any) -> None:
    shutil.copytree(DESK, "desk")
    for command in (["git", "init", "-q"], ["git", "add", "-A"], [*COMMIT, "-m", "Desk"]):
        subprocess.run(command, check=True)
    assert run("test", "desk", "-m", "oracle", "--limit", "1", "--out", "runs/one").exit_code == 0
    Path("said.json").write_text(run("test", "desk", "-m", "oracle", "--limit", "1", "--json").stdout)
    shown = run("validate", ".").stdout
    assert shown == "1 environment checked, nothing to report.\n"
    assert run("diff", "--git", "HEAD").stdout == "No environment changed.\n"
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run([*COMMIT, "-m", "Run"], check=True)
    Path("runs/one/run.json").write_bytes(Path("runs/one/run.json").read_bytes() + b"\n")
    assert run("diff", "--git", "HEAD").stdout == "No environment changed.\n"
    for path in ("runs/one", "runs/one/run.json", "said.json"):
        refused = run("validate", path)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr.startswith(
            f"error: There is no environment in “{path}”.\n  help: It is what rollout wrote"
        )


def test_a_run_is_not_kept_among_environments(run: Any) -> None:
    shutil.copytree(DESK, "envs/desk")
    refused = run("test", "envs/desk", "-m", "oracle", "--out", "envs")
    assert refused.exit_code == 2
    assert "“envs” holds something else than a run." in refused.stderr
    assert [path.name for path in Path("envs").iterdir()] == ["desk"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-m", "noop"), "Changed since: the model (was “oracle”, is “noop”)."),
        (("--temperature", "1"), "Changed since: the sampling (temperature was 0.3, is 1)."),
        (("--max-tool-calls", "3"), "Changed since: the limit of tool calls (was 12, is 3)."),
        (("--timeout", "9"), "Changed since: the time for a rollout (was not set, is 9)."),
        (("-n", "1"), "has 2 trials of each task; it can only get more."),
        (("--out", "other"), "--out begins a run and --resume goes on with one."),
    ],
)
def test_a_run_is_not_continued_with_something_else(run: Any, options: tuple[str, ...], words: str) -> None:
    run("test", str(DESK), "-m", "oracle", "-n", "2", "--out", "run")
    refused = run("test", "--resume", "run", *options)
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert len(keys("run")) == 6


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("type: no_tool_errors", "type: tool_was_called, tool: refund", "its verifier"),
        ("orders: {O-1: {customer: Alice", "orders: {O-1: {customer: Alicia", "the environment"),
        ("instruction: Refund order O-1 for $100.", "instruction: Refund O-1.", "its tasks"),
        ("{answer: ", "{tool: get_order, args: {order_id: O-1}}\n      - {answer: ", "their solutions"),
    ],
)
def test_an_environment_that_was_changed_is_named_by_its_part(
    run: Any, was: str, now: str, words: str
) -> None:
    text = (DESK / "environment.yaml").read_text()
    Path("desk.yaml").write_text(text)
    run("test", "desk.yaml", "-m", "oracle", "--out", "run")
    assert was in text
    Path("desk.yaml").write_text(text.replace(was, now))
    refused = run("test", "--resume", "run")
    assert refused.exit_code == 2
    assert f"Changed since: {words}." in refused.stderr


def test_what_infrastructure_broke_is_done_again_and_what_it_used_stays_counted(asking: Any) -> None:
    with ChatServer([refuses(401, "Wrong key.")]) as server:
        ended = asking(server, str(DESK), "-m", "openai/gpt-4o-mini", "--concurrency", "1", "--out", "run")
        assert ended.exit_code == 1
        assert "stopped: “openai” does not accept the key" in ended.stderr
        assert "1 of 3 rollouts are done. Go on with: rollout test --resume run" in ended.stderr
        server.play(says("Done."))
        again = asking(server, "--resume", "run", "--json")
    data = json.loads(again.stdout)["data"]
    assert (data["all"], data["outcomes"], data["errors"]) == (3, {"failed": 3}, {})
    assert sorted(keys("run")) == [("solved", 0), ("solved", 0), ("unsolved", 0), ("wrong", 0)]
    assert "sk-desk" not in "".join(file.read_text() for file in Path("run").iterdir())


def test_a_run_is_not_continued_with_a_model_of_the_same_name_at_another_server(asking: Any) -> None:
    with ChatServer([says("Done.")]) as server, ChatServer([says("Done.")]) as other:
        asking(server, str(DESK), "-m", "openai/gpt-4o-mini", "--out", "run")
        refused = asking(other, "--resume", "run", "-n", "2")
        assert refused.exit_code == 2
        assert (
            f"Changed since: where it is asked (was “{server.address}/chat/completions”, is “"
            in refused.stderr
        )
        assert asking(server, "--resume", "run", "-n", "2").exit_code == 1
        renamed = asking(other, "--resume", "run", "-n", "2", "-m", "oracle")
        assert "Changed since: the model (was “openai/gpt-4o-mini”, is “oracle”)." in renamed.stderr
    assert len(keys("run")) == 6


@pytest.mark.parametrize(
    "line", ['{"trace": {"task": "x", "trial": 0}, "verdict": {}}', "[]", '{"trace": 1}']
)
def test_a_line_that_is_no_rollout_is_said_when_a_run_is_gone_on_with(run: Any, line: str) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    with (Path("run") / "rollouts.jsonl").open("a") as file:
        file.write(f"{line}\n")
    refused = run("test", "--resume", "run")
    assert refused.exit_code == 2, refused.exception
    assert "rollouts.jsonl" in refused.stderr


def test_a_key_in_an_address_is_kept_nowhere(asking: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer([says("Done.")]) as server:
        server.address += "?api-key=4f6c5cce93aa71"
        asking(server, str(DESK), "-m", "openai/gpt-4o-mini", "--out", "run")
    assert "4f6c5cce93aa71" not in "".join(file.read_text() for file in Path("run").iterdir())


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "replay:nothing.jsonl", "orcale"])
def test_a_model_that_cannot_be_had_leaves_no_folder(
    run: Any, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert run("test", str(DESK), "-m", model, "--out", "run").exit_code == 2
    assert not Path("run").exists()


def test_an_address_without_v1_is_told_once_and_ends_the_run(asking: Any) -> None:
    with ChatServer([refuses(404, "Not Found")] * 3) as server:
        server.address = server.address.removesuffix("/v1")
        ended = asking(server, str(DESK), "-m", "openai/gpt-4o-mini")
    told = f"The address of a server usually ends in /v1: is it {server.address}/v1?"
    assert (ended.exit_code, ended.stdout.count(told), ended.stderr.count(told)) == (1, 1, 1)
    assert ended.stdout.endswith("0 passed, 0 failed, 1 error (passed 0 of 0 graded, 0 of 3 planned).\n")


def test_a_run_of_which_nothing_was_done_names_what_was_planned(asking: Any) -> None:
    with ChatServer([says("Done.")]) as server:
        ended = asking(server, str(DESK), "-m", "openai/gpt-4o-mini", "--max-tokens", "0")
    assert ended.stdout.endswith("0 passed, 0 failed, 0 errors (passed 0 of 0 graded, 0 of 3 planned).\n")


def test_a_spent_budget_ends_a_run_that_can_be_gone_on_with(asking: Any) -> None:
    with ChatServer([says("Done.")]) as server:
        ended = asking(
            server,
            str(DESK),
            "-m",
            "openai/gpt-4o-mini",
            "--concurrency",
            "1",
            "--max-tokens",
            "200",
            "--out",
            "run",
        )
        assert ended.exit_code == 1
        assert "stopped: The limit of 200 tokens is reached: 220 were used." in ended.stderr
        assert len(keys("run")) == 2
        spent = asking(server, "--resume", "run", "--max-tokens", "200")
        assert "The limit of 200 tokens is reached: 220 were used." in spent.stderr
        whole = asking(server, "--resume", "run", "--max-tokens", "1000")
    assert whole.exit_code == 1
    assert len(keys("run")) == 3


def test_a_large_run_is_shown_as_a_summary_with_the_first_that_did_not_pass(run: Any) -> None:
    ended = run("test", str(DESK), "-m", "oracle", "-n", "10", "--concurrency", "1")
    assert ended.exit_code == 1
    lines = ended.stdout.splitlines()
    assert lines[0] == (
        "failed wrong (trial 0): “refunds[0].amount” is 2; 20 was expected. 1 of 2 calls failed. "
        "The first, of “get_order”: There is no “orders.O-9”."
    )
    assert lines[10] == "… 10 more did not pass."
    assert lines[12:] == [
        "pass rate 50 % of 20 graded (95 % interval 29.9 % to 70.1 %, Wilson); 33.3 % of all 30",
        "pass@1 50 %, pass@2 50 %, pass@3 50 %, pass@4 50 %, pass@10 50 % (mean over 2 tasks)",
        "pass^1 50 %, pass^2 50 %, pass^3 50 %, pass^4 50 %, pass^10 50 % (mean over 2 tasks)",
        "errors charged: 10 to the environment",
        "10 passed, 10 failed, 10 errors (passed 10 of 20 graded, 10 of 30 in all).",
    ]


def test_transcripts_stand_in_the_order_of_the_tasks_whichever_was_done_first(run: Any) -> None:
    shown = run("test", str(DESK), "-m", "oracle", "-n", "2").stdout
    titles = [line for line in shown.splitlines() if line.startswith(("solved", "wrong", "unsolved"))]
    assert titles == [
        "solved (dev)",
        "wrong (test)",
        "unsolved (dev)",
        "solved (dev, trial 1)",
        "wrong (test, trial 1)",
        "unsolved (dev, trial 1)",
    ]


def test_events_are_a_line_each_and_end_with_the_summary(run: Any) -> None:
    ended = run("test", str(DESK), "-m", "oracle", "--events")
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [event["event"] for event in events] == ["begin", "rollout", "rollout", "rollout", "end"]
    assert events[0]["planned"] == 3
    assert {event["task"]: event["outcome"] for event in events[1:-1]} == {
        "solved": "passed",
        "wrong": "failed",
        "unsolved": "error",
    }
    assert (events[-1]["passed"], events[-1]["graded"], events[-1]["all"]) == (1, 2, 3)


def test_nothing_in_an_event_moves_the_cursor(run: Any, tmp_path: Path) -> None:
    name = "txet\u202e \x9b2J\x7f"
    tool = {"name": "add", "kind": "action", "stateArray": "out", "paramsSchema": {"id": "string"}}
    environment = {
        "slug": "hostile",
        "template": "workflow",
        "config": {"tools": [tool], "initialMutableState": {"out": []}},
        "tasks": [
            {
                "id": name,
                "instruction": "Add 7.",
                "hidden_ground_truth": {"out": [{"id": "7"}]},
                "solution": [{"tool": "add", "args": {"id": "7"}}],
            }
        ],
        "verifier": {"primitives": [{"name": name, "type": "ground_truth_match"}]},
    }
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(environment), encoding="utf-8")
    shown = run("test", str(path), "-m", "oracle", "--events").stdout
    assert json.loads(shown.splitlines()[1])["task"] == name
    assert all(part.isprintable() for part in shown.splitlines())


def test_events_and_a_format_exclude_each_other(run: Any) -> None:
    assert run("test", str(DESK), "-m", "noop", "--events", "--json").exit_code == 2


def test_junit_tells_a_rollout_as_a_test(run: Any) -> None:
    ended = run("test", str(DESK), "-m", "oracle", "--format", "junit")
    suite = ElementTree.fromstring(ended.stdout)[0]
    assert suite.attrib == {"name": "desk", "tests": "3", "failures": "1", "errors": "1"}
    told = {case.attrib["name"]: [child.tag for child in case] for case in suite}
    assert told == {"solved": [], "wrong": ["failure"], "unsolved": ["error"]}


def test_traces_are_given_as_chat_messages(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    ended = run("traces", "run", "--outcome", "passed")
    (line,) = ended.stdout.splitlines()
    exported = json.loads(line)
    assert [message["role"] for message in exported["messages"]] == [
        "user",
        *["assistant", "tool"] * 2,
        "assistant",
    ]
    assert exported["metadata"]["outcome"] == "passed"
    assert (exported["metadata"]["task"], exported["metadata"]["trial"]) == ("solved", 0)
    called = {
        call["function"]["name"] for message in exported["messages"] for call in message.get("tool_calls", ())
    }
    shown = {tool["function"]["name"]: tool["function"]["parameters"] for tool in exported["tools"]}
    assert called and called <= shown.keys()
    assert shown["get_order"]["required"] == ["order_id"] and ended.stderr == ""


def test_rows_without_tools_are_told_of(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    Path("run/rollouts.jsonl").rename("alone.jsonl")
    for form in ("openai", "atif"):
        ended = run("traces", "alone.jsonl", "--format", form)
        assert ended.exit_code == 0 and "so no row has them" in ended.stderr
        assert "tools" not in json.loads(ended.stdout.splitlines()[0])


def test_traces_are_given_as_trajectories(asking: Any, run: Any) -> None:
    calls = [call("get_order", '{"order_id":"O-1"}', "a"), call("refund", "{", "b")]
    with ChatServer([says(calls=calls), says("Done.", reasoning_content="Hm.")]) as server:
        asking(server, str(DESK), "-m", "openai/gpt-4o-mini", "--task", "solved", "--out", "run")
    assert run("traces", "run", "--format", "atif", "-o", "exports/out.jsonl").exit_code == 0
    (line,) = Path("exports/out.jsonl").read_text().splitlines()
    trajectory = json.loads(line)
    assert trajectory["schema_version"] == "ATIF-v1.7"
    shown = {tool["function"]["name"] for tool in trajectory["agent"]["tool_definitions"]}
    assert shown == {"get_order", "refund", "refund_by_cheque"}
    user, acting, answering = trajectory["steps"]
    assert (user["step_id"], user["source"]) == (1, "user")
    assert acting["tool_calls"] == [
        {"tool_call_id": "a", "function_name": "get_order", "arguments": {"order_id": "O-1"}},
        {"tool_call_id": "b", "function_name": "refund", "arguments": {}, "extra": {"arguments": "{"}},
    ]
    assert [result["source_call_id"] for result in acting["observation"]["results"]] == ["a", "b"]
    assert (answering["message"], answering["reasoning_content"]) == ("Done.", "Hm.")
    assert answering["metrics"] == {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 0}
    assert trajectory["final_metrics"]["total_prompt_tokens"] == 200
    assert trajectory["final_metrics"]["total_steps"] == 3


def test_trajectories_of_one_run_keep_their_ids_and_those_of_another_differ(run: Any) -> None:
    def ids(folder: str) -> list[str]:
        lines = run("traces", folder, "--format", "atif").stdout.splitlines()
        return [json.loads(line)["session_id"] for line in lines]

    for folder in ("one", "two"):
        run("test", str(DESK), "-m", "oracle", "--limit", "2", "--out", folder)
    before = ids("one")
    assert [identity.split("/", 1)[1] for identity in before] == ["desk/solved/0", "desk/wrong/0"]
    assert len({*before, *ids("two")}) == 4
    run("test", "--resume", "one", "-n", "2")
    run("regrade", "one", "--with", str(DESK), "-o", "again.jsonl")
    assert ids("one")[:2] == before == ids("again.jsonl")[:2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "There are no rollouts in “nowhere”."),
        ((".", "--outcome", "fine"), "There is no outcome “fine”."),
    ],
)
def test_traces_that_are_not_there_are_told(run: Any, arguments: tuple[str, ...], words: str) -> None:
    ended = run("traces", *arguments)
    assert ended.exit_code == 2
    assert words in ended.stderr


def test_a_recorded_run_can_be_replayed(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--limit", "2", "--out", "run")
    ended = run("test", str(DESK), "-m", "replay:run", "--limit", "2", "--json")
    assert json.loads(ended.stdout)["data"]["outcomes"] == {"failed": 1, "passed": 1}


def test_a_function_that_judges_is_part_of_the_verifier(run: Any) -> None:
    text = (DESK / "environment.yaml").read_text()
    Path("desk").mkdir()
    judged = text.replace("type: no_tool_errors", "type: python, function: 'judges.py:fine'")
    Path("desk/environment.yaml").write_text(judged)
    Path("desk/judges.py").write_text("def fine(case):\n    return 1\n")
    begun = run("test", "desk", "-m", "noop", "--limit", "1", "--out", "run")
    assert begun.exit_code == 1, begun.stderr
    Path("desk/judges.py").write_text("def fine(case):\n    return 0\n")
    refused = run("test", "--resume", "run")
    assert refused.exit_code == 2
    assert "Changed since: its verifier." in refused.stderr
