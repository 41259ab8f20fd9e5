"""`rollout run`, `runs`, `show`, `cancel` and `resume`: on `local`, and at a platform that answers as published."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pseudo_terminal import at_terminal
from servers.chat import ChatServer, hangs, says
from servers.published import KEY, Published
from typer.testing import CliRunner, Result

from rollout.cli import app

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk" / "environment.yaml"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("ROLLOUT_API_KEY", "XDG_CONFIG_HOME", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ROLLOUT_ENDPOINT", "local")
    work = tmp_path / "work"
    (work / "desk").mkdir(parents=True)
    # With one way to refund, the oracle finds it without the solutions, which stay here.
    text = DESK.read_text()
    start, end = text.index("    - name: refund_by_cheque"), text.index("  fixtures:")
    (work / "desk" / "environment.yaml").write_text(text[:start] + text[end:])
    monkeypatch.chdir(work)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    assert invoke("push", "desk").exit_code == 0
    return invoke


@pytest.fixture
def model(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer([says("Done.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-desk-4f6c5cce93aa71")
        yield server


def run_data(result: Result) -> dict[str, object]:
    return json.loads(result.stdout)["data"]["run"]  # type: ignore[no-any-return]


def test_a_run_is_followed_to_its_end(run: Run) -> None:
    done = run("run", "desk", "--model", "oracle", "-n", "2")
    assert done.exit_code == 0, done.output
    first, *rest = done.stdout.splitlines()
    assert re.fullmatch(r"run [0-9a-f]{32}: 6 rollouts", first)
    assert rest[0] == f"{first.split(': ')[0]}: desk with oracle, done"
    assert rest[1].startswith("  pass rate 100 % of 6 graded (95 % interval ")
    assert rest[2] == "  6 passed, 0 failed, 0 errors"


def test_what_did_not_pass_is_told_and_the_exit_code_is_that_of_test(run: Run) -> None:
    done = run("run", "desk", "-m", "noop", "--split", "dev")
    assert done.exit_code == 1
    assert len(re.findall(r"(?m)^failed [0-9a-f]{8} Refund order", done.stdout)) == 2
    assert "2 failed" in done.stdout


def test_as_the_published_readme_writes_it(run: Run) -> None:
    data = run_data(run("run", "desk", "--model", "oracle", "--n", "50", "--json"))
    assert (data["n"], data["passed"], data["perTask"]) == (150, 150, 50)


def test_a_run_is_of_the_tasks_that_are_chosen(run: Run) -> None:
    assert run_data(run("run", "desk", "-m", "oracle", "--task", "0", "--task", "2", "--json"))["n"] == 2
    assert run_data(run("run", "desk", "-m", "oracle", "--limit", "1", "--json"))["n"] == 1
    data = json.loads(run("run", "desk", "-m", "noop", "--task", "1", "--json").stdout)["data"]
    rollouts = json.loads(run("show", data["run"]["id"], "--json").stdout)["data"]["rollouts"]
    assert [each["instruction"] for each in rollouts] == ["Refund order O-2 for $20."]
    again = run("run", "desk", "-m", "noop", "--task", rollouts[0]["taskId"][:6], "--json")
    assert run_data(again)["n"] == 1
    refused = run("run", "desk", "-m", "noop", "--task", "3")
    assert refused.exit_code == 2
    assert "error: No task of “desk” is “3”.\n  help: Give a number from 0 to 2" in refused.stderr


def test_a_run_says_what_it_was_asked_for(run: Run) -> None:
    parent = run_data(run("run", "desk", "-m", "noop", "--json"))["id"]
    options = ("--name", "after", "--parent", str(parent)[:8], "--temperature", "0", "--max-tool-calls", "3")
    data = run_data(run("run", "desk", "-m", "noop", *options, "--concurrency", "2", "--json"))
    assert (data["name"], data["parentRunId"]) == ("after", parent)
    assert data["options"] == {"n": 1, "temperature": 0.0, "maxToolCalls": 3, "concurrency": 2}


def test_a_run_can_be_asked_for_without_a_temperature(run: Run) -> None:
    begun = run("run", "desk", "-m", "noop", "--temperature", "none", "--json")
    assert "temperature" not in run_data(begun)["options"]
    assert run_data(run("run", "desk", "-m", "noop", "--json"))["options"]["temperature"] == 0.7


def test_a_run_is_of_the_version_that_is_named(run: Run) -> None:
    digest = run("compile", "desk", "--digest").stdout.strip()
    text = Path("desk/environment.yaml").read_text()
    Path("desk/environment.yaml").write_text(text.replace("name: Refunds", "name: Returns"))
    run("push", "desk")
    assert run_data(run("run", "desk", "-m", "noop", "--json"))["digest"] != digest
    assert run_data(run("run", f"desk@{digest[7:15]}", "-m", "noop", "--json"))["digest"] == digest


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nope", "-m", "noop"), 3, "There is no environment “nope”."),
        (("desk", "-m", "human"), 3, "“human” cannot act in a run of the platform"),
        (("desk", "-m", "noop", "--split", "dve"), 3, "dve"),
        (("desk", "-m", "noop", "--parent", "ffffffff"), 3, "There is no run “ffffffff”."),
        (("desk", "-m", "noop", "--temperature", "nan"), 2, "--temperature is no number."),
        (("desk", "-m", "noop", "--no-watch"), 2, "so it is not left alone"),
        (("desk", "-m", "noop", "--task", "0", "--limit", "1"), 2, "--task names the tasks"),
        (("desk", "-m", "noop", "--task", "0", "--split", "dev"), 2, "--task names the tasks"),
        (("desk@", "-m", "noop"), 2, "“desk@” names no environment."),
        (("@ab12", "-m", "noop"), 2, "“@ab12” names no environment."),
        (("desk",), 2, "--model"),
        (("desk", "-m", "noop", "-n", "0"), 2, "-n"),
    ],
)
def test_a_run_that_cannot_be_is_refused_in_words(
    run: Run, arguments: tuple[str, ...], code: int, words: str
) -> None:
    refused = run("run", *arguments)
    assert refused.exit_code == code
    assert words in refused.stderr
    assert run("runs").stdout == ""


def test_runs_are_listed_and_shown_by_the_start_of_an_id(run: Run) -> None:
    run("run", "desk", "-m", "noop", "--name", "first")
    run("run", "desk", "-m", "oracle", "--name", "second")
    lines = run("runs").stdout.splitlines()
    assert lines[0].split() == [
        "id",
        "environment",
        "model",
        "status",
        "done",
        "pass",
        "rate",
        "begun",
        "(UTC)",
        "name",
    ]
    assert [line.split()[-1] for line in lines[1:]] == ["second", "first"]
    assert lines[1].split()[1:5] == ["desk", "oracle", "done", "3/3"]
    assert len(run("runs", "--limit", "1").stdout.splitlines()) == 2
    assert run("runs", "--env", "other").stdout == ""
    start = lines[2].split()[0]
    shown = run("show", start).stdout
    assert "desk with noop, done" in shown
    assert len(re.findall(r"  failed  ", shown)) == 3
    passed = run("show", lines[1].split()[0], "--failed")
    assert (passed.exit_code, passed.stderr) == (0, "None of its rollouts failed.\n")
    assert run("show", "ffffffff").exit_code == 3


def test_an_environment_is_shown_by_its_slug(run: Run) -> None:
    shown = run("show", "desk").stdout.splitlines()
    assert shown[:2] == ["desk: Refunds (workflow, version 1)", "  A desk that refunds orders."]
    assert "  3 tasks (2 dev, 1 test)" in shown
    assert "  judged by outcome: ground_truth_match, weight 3" in shown
    data = json.loads(run("show", "desk", "--json").stdout)["data"]
    assert data["environment"]["slug"] == "desk"


def test_what_names_nothing_has_a_way_out(run: Run) -> None:
    nothing = run("show", "")
    assert nothing.exit_code == 3
    assert "“” is no name.\n  help: “rollout runs” and “rollout envs” list what there is." in nothing.stderr
    failed = run("show", "desk", "--failed")
    assert failed.exit_code == 2
    assert "“desk” is an environment, and --failed is of the rollouts of a run." in failed.stderr


def test_a_run_that_is_over_is_neither_cancelled_nor_resumed(run: Run) -> None:
    run_id = str(run_data(run("run", "desk", "-m", "noop", "--json"))["id"])
    cancelled = run("cancel", run_id[:8])
    assert cancelled.stdout == f"run {run_id} was done already, 3 of 3 rollouts are done\n"
    refused = run("resume", run_id[:8])
    assert refused.exit_code == 3
    assert "All rollouts of this run are done." in refused.stderr
    assert run("cancel", "ffffffff").exit_code == 3


def test_interrupted_it_keeps_what_is_done_and_is_gone_on_with(
    run: Run, model: ChatServer, tmp_path: Path
) -> None:
    model.play(says("Done."), says("Done."), hangs)
    command = ("run", "desk", "-m", "openai/gpt-4o-mini", "--concurrency", "1")
    with at_terminal(*command, cwd=tmp_path / "work") as terminal:
        terminal.until(lambda: len(model.asked) == 3)
        terminal.expect("2/3")
        terminal.interrupt()
        terminal.expect("2 of 3 rollouts are done.")
        told = terminal.expect("\n") and terminal.expect("\n")
        assert terminal.wait() == 130
    run_id = re.search(r"They are kept\. Go on with: rollout resume ([0-9a-f]{32})", told)
    assert run_id is not None, told
    model.play(says("Done."))
    # To look at it is not to go on with it.
    assert "2/3" in run("runs").stdout
    assert model.asked == []
    done = run("resume", run_id[1][:8], "--json")
    assert (run_data(done)["status"], run_data(done)["failed"]) == ("done", 3)
    assert len(model.asked) == 1, "no rollout is done twice"


def test_a_cancelled_run_is_not_gone_on_with_by_itself(run: Run, model: ChatServer, tmp_path: Path) -> None:
    model.play(says("Done."), hangs)
    command = ("run", "desk", "-m", "openai/gpt-4o-mini", "--concurrency", "1")
    with at_terminal(*command, cwd=tmp_path / "work") as terminal:
        terminal.until(lambda: len(model.asked) == 2)
        run_id = json.loads(run("runs", "--json").stdout)["data"]["runs"][0]["id"]
        # From another process, which does not execute it.
        assert run("cancel", run_id).stdout.startswith(f"run {run_id} is cancelled, ")
        terminal.expect("cancelled")
        assert terminal.wait() == 1
    model.play(says("Done."))
    assert run_data(run("resume", run_id, "--json"))["status"] == "done"


@pytest.fixture
def published(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Published]:
    with Published() as platform:
        monkeypatch.setenv("ROLLOUT_ENDPOINT", platform.address)
        monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
        assert run("push", "desk").exit_code == 0
        yield platform


def test_a_run_at_a_platform_of_others(run: Run, published: Published) -> None:
    done = run("run", "desk", "--model", "openai/gpt-4o-mini", "-n", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "run c0ffee00-run: 6 rollouts",
        f"→ {published.address}/runs/c0ffee00-run",
        "run c0ffee00-run: Refunds with openai/gpt-4o-mini, completed",
        "  6 of 6 done, pass rate 100 %",
    ]
    left = run("run", "desk", "--model", "openai/gpt-4o-mini", "--no-watch")
    assert (
        left.stdout == f"run c0ffee10-run: 3 rollouts have begun\n→ {published.address}/runs/c0ffee10-run\n"
    )
    assert run("show", "c0ffee1").stdout.startswith("run c0ffee10-run: Refunds with")
    ambiguous = run("show", "c0ffee")
    assert ambiguous.exit_code == 3
    assert "Several ids of a run begin with “c0ffee”: c0ffee10-run, c0ffee00-run …" in ambiguous.stderr
    assert run("runs").stdout.splitlines()[1].split()[0] == "c0ffee10"
    assert run("cancel", "c0ffee1").exit_code == 3


def test_two_runs_are_compared_by_the_starts_of_their_ids(run: Run) -> None:
    good = str(run_data(run("run", "desk", "-m", "oracle", "-n", "4", "--json"))["id"])
    bad = str(run_data(run("run", "desk", "-m", "noop", "-n", "4", "--json"))["id"])
    compared = run("compare", good[:8], bad, "--fail-on-regression", "--margin", "0.1", "--json")
    assert compared.exit_code == 1, compared.output
    told = json.loads(compared.stdout)["data"]
    assert (told["baseline"]["model"], told["trained"]["model"]) == ("oracle", "noop")
    assert "regression: " in compared.stderr
    assert run("compare", bad, good, "--fail-on-regression").exit_code == 0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"verifier": {"primitives": [{"name": "a"}]}}, "“verifier.primitives[0].type” was expected in it"),
        ({"verifier": {"primitives": 7}}, "“verifier.primitives” was expected to be a list"),
        ({"tasks": [{"instruction": 5}]}, "“tasks[0].instruction” was expected to be a text"),
        ({"tasks": None}, "“tasks” was expected to be a list"),
        ({"description": 7}, "“description” was expected to be a text"),
        ({"digest": ["a"]}, "“digest” was expected to be a text"),
    ],
)
def test_an_environment_that_is_not_as_published_is_told_by_its_field(
    run: Run, published: Published, changed: dict[str, object], words: str
) -> None:
    published.entries["desk"] = changed
    shown = run("show", "desk")
    assert shown.exit_code == 3
    assert words in shown.stderr


def test_counts_that_contradict_each_other_are_shown_as_they_are(run: Run, published: Published) -> None:
    keep(published, "aaaaaaaa", "e1", True, "Do.")
    published.runs["aaaaaaaa"] |= {"progress": 0, "passed": 3, "failed": 0, "errors": 0, "unscored": 0}
    published.runs["aaaaaaaa"] |= {"usage": {"output_tokens": 5}}
    shown = run("show", "aaaaaaaa")
    assert shown.exit_code == 0, shown.output
    assert "pass rate 100 % of 3 graded\n" in shown.stdout


def keep(platform: Published, run_id: str, environment: str, passed: bool, *asked: str) -> None:
    """A run that was done there, of one rollout for each that is asked."""
    platform.runs[run_id] = {
        "id": run_id,
        "status": "completed",
        "successRate": float(passed),
        "progress": len(asked),
        "n": len(asked),
        "model": "openai/gpt-4o-mini",
        "environmentName": "Desk",
        "environmentId": environment,
    }
    platform.rollouts[run_id] = [
        {"id": f"{n}", "taskId": f"{n}", "instruction": text, "passed": passed, "score": float(passed)}
        for n, text in enumerate(asked)
    ]


def test_where_no_version_is_known_no_tasks_are_compared_that_are_not_the_same(
    run: Run, published: Published
) -> None:
    orders = [f"Refund O-{number}." for number in range(8)]
    keep(published, "aaaaaaaa", "e1", False, *orders)
    keep(published, "bbbbbbbb", "e1", True, *(f"{order} Now!" for order in orders))
    keep(published, "cccccccc", "e2", True, *orders)
    keep(published, "dddddddd", "e1", True, *orders)
    other = run("compare", "aaaaaaaa", "bbbbbbbb", "--fail-on-regression")
    assert "Nothing can be compared: no task has a grade in both runs." in other.stdout
    assert other.exit_code == 1
    refused = run("compare", "aaaaaaaa", "cccccccc")
    assert refused.exit_code == 2
    assert "The runs are of different environments: “Desk” (e1) and “Desk” (e2)." in refused.stderr
    across = run("compare", "aaaaaaaa", "cccccccc", "--across-versions")
    assert "The runs are of different versions: the environment changed between them." in across.stdout
    same = run("compare", "aaaaaaaa", "dddddddd")
    assert "Better: over 8 tasks" in same.stdout
    assert "It is not known whether the environment was the same in both runs" in same.stdout
    assert "what is wanted of them is not known" in same.stdout
    run("test", "desk", "-m", "oracle", "--all", "--out", "here")
    mixed = run("compare", "here", "aaaaaaaa")
    assert mixed.exit_code == 2


def test_a_run_that_is_compared_with_itself_is_said_to_be(run: Run) -> None:
    run_id = str(run_data(run("run", "desk", "-m", "noop", "--json"))["id"])
    assert "Both are the same run, so nothing can differ." in run("compare", run_id, run_id[:8]).stdout
    run("test", "desk", "-m", "oracle", "--all", "--out", "here")
    assert "Both are the same run" in run("compare", "here", "./here/rollouts.jsonl").stdout


def test_a_run_of_this_folder_is_compared_with_one_of_the_platform(run: Run) -> None:
    there = str(run_data(run("run", "desk", "-m", "noop", "--json"))["id"])
    run("test", "desk", "-m", "oracle", "--all", "--out", "here")
    compared = run("compare", "here", there, "--json")
    assert compared.exit_code == 0, compared.output
    told = json.loads(compared.stdout)["data"]
    assert " over 3 tasks " in told["headline"]


def test_a_run_that_is_nowhere_is_not_compared(run: Run) -> None:
    refused = run("compare", "deadbeef", "deadbeef")
    assert refused.exit_code == 3
    assert "There is no run “deadbeef”" in refused.stderr
    refused = run("compare", "first", "deadbeef")
    assert refused.exit_code == 2
    assert "“first” is neither a run's folder nor the start of a run's id." in refused.stderr
