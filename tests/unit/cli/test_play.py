"""`rollout play` with lines from a pipe: what is shown, how it ends, and what is recorded."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner, Result

from rollout.cli import app

CASES = Path(__file__).parents[2] / "cases" / "models"
PASSES = "refund order_id=O-1 amount=100 reason=damaged\nanswer Refunded.\n"

Play = Callable[..., Result]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CASES / "human", tmp_path / "desk"))


@pytest.fixture
def play(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    monkeypatch.chdir(desk.parent)

    def run(typed: str | bytes, *options: str, command: str = "play", path: str = "desk") -> Result:
        return CliRunner().invoke(app, [command, path, *options], input=typed)

    return run


def test_a_play_shows_what_an_agent_sees_and_the_verdict(play: Play, snapshot: SnapshotAssertion) -> None:
    ended = play(f"get_order order_id=O-1\n\nget_ordr\nundo\n{PASSES}")
    assert ended.exit_code == 0
    assert ended.stdout == snapshot


def test_help_tools_and_task_say_what_can_be_done(play: Play, snapshot: SnapshotAssertion) -> None:
    ended = play("help\ntools\nhelp refund\n/task\nhelp rfund\nmore\nundo\ndone\n", "--show-state")
    assert ended.exit_code == 1
    assert ended.stdout == snapshot


def test_a_description_that_ends_in_line_breaks_is_parted_from_the_task_by_one_line(
    play: Play, desk: Path
) -> None:
    file = desk / "environment.yaml"
    file.write_text(
        file.read_text().replace(
            "You are the refund desk. Be brief.", '"You are the refund desk. Be brief.\\n\\n"'
        )
    )
    assert "You are the refund desk. Be brief.\n\nRefund order O-1" in play("quit\n").stdout


def test_an_agent_s_errors_are_answered_as_a_model_s_are(play: Play) -> None:
    ended = play(f'refund order_id=O-1\nrefund {{"order_id": 3}}\n{PASSES}')
    assert '{"error":"“refund” does not take these arguments. “amount” is missing.' in ended.stdout
    assert ended.exit_code == 0


def test_an_undo_begins_a_new_world_and_does_the_rest_again(play: Play) -> None:
    typed = "note text=a\nnote text=b\nnote text=c\nstate\nundo\nundo\nstate\nundo\nstate\nundo\n"
    ended = play(f"{typed}{PASSES}", "--show-state")
    states = [json.loads(part.partition("\n> ")[0])["notes"] for part in ended.stdout.split("> state\n")[1:]]
    assert states == [["a", "b", "c"], ["a"], []]
    assert "There is nothing to take back." in ended.stdout
    assert ended.exit_code == 0


def test_the_state_is_not_shown_unless_it_is_asked_for(play: Play) -> None:
    ended = play(f"state\nhelp\n{PASSES}")
    assert "> state\n“state” shows the state of the world only with --show-state.\n" in ended.stdout
    assert re.search(r"\n  state +the state of the world, only with --show-state\n", ended.stdout)
    assert "notes" not in ended.stdout.partition("passed with")[0]


def test_nothing_that_is_shown_before_the_verdict_is_the_ground_truth(play: Play, desk: Path) -> None:
    file = desk / "environment.yaml"
    file.write_text(file.read_text().replace("amount: 100}], notes", "amount: 4711}], notes"))
    ended = play("help\ntools\nget_order order_id=O-1\ntask\nanswer Refunded.\n")
    assert "4711" not in ended.stdout.partition("failed with")[0]


@pytest.mark.parametrize(
    "typed", ["", "get_order order_id=O-1\n", "note text=<<END\nno end\n", 'note {"text":\n']
)
def test_an_input_that_ends_too_early_is_no_verdict(play: Play, desk: Path, typed: str) -> None:
    before = (desk / "environment.yaml").read_bytes()
    ended = play(typed, "--record")
    assert ended.exit_code == 1
    assert "error, charged to the model: The input ended before the rollout did." in ended.stdout
    assert "Not recorded, since it did not pass." in ended.stdout
    assert (desk / "environment.yaml").read_bytes() == before


def test_quit_gives_up(play: Play) -> None:
    ended = play("get_order order_id=O-1\nquit\n")
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (130, "Given up; there is no verdict.")


def test_a_line_that_is_no_utf8_is_told_of_and_not_sent(play: Play) -> None:
    ended = play(b"note text=\xff\xfe\n" + PASSES.encode())
    assert "This line is not UTF-8; it was not read." in ended.stdout
    assert ended.exit_code == 0


def test_lines_may_end_as_on_windows_and_the_last_without_a_break(play: Play) -> None:
    ended = play(PASSES.rstrip("\n").replace("\n", "\r\n"))
    assert ended.exit_code == 0


def test_the_limit_of_tool_calls_ends_a_play(play: Play) -> None:
    ended = play("note text=a\nnote text=b\n", "--max-tool-calls", "1")
    assert "1 tool call is the most there may be." in ended.stdout
    assert ended.exit_code == 1


def test_json_has_the_rollout_and_nothing_else_on_stdout(play: Play) -> None:
    ended = play(PASSES, "--json", "--record")
    envelope = json.loads(ended.stdout)
    assert (envelope["command"], ended.exit_code) == ("play", 0)
    data = envelope["data"]
    assert (data["environment"], data["verdict"]["outcome"]) == ("desk", "passed")
    assert data["trace"]["model"] == "human"
    assert data["recorded"] == "desk/environment.yaml"
    assert "> answer Refunded." in ended.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--task", "alicia"), "Did you mean “alice”?"),
        (("--replace",), "--replace says what --record is to do."),
        (("--sandbox", "chroot"), "chroot"),
        (("--task", "bob", "--record"), "has a solution already, and nobody can be asked here."),
    ],
)
def test_wrong_usage_is_said_before_anything_is_played(
    play: Play, options: tuple[str, ...], words: str
) -> None:
    ended = play(PASSES, *options)
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert ended.stdout == ""


# Recording


def test_a_play_that_passes_is_recorded_and_everything_else_is_as_it_was(play: Play, desk: Path) -> None:
    before = (desk / "environment.yaml").read_text()
    ended = play(f"refund order_id=O-1\nget_order order_id=O-1\n{PASSES}", "--record")
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[-2:] == [
        "Left out of the solution: 1 call that no tool took.",
        "Recorded in desk/environment.yaml; played back by the oracle it reaches the top score.",
    ]
    solution = (
        "    solution:\n      - tool: get_order\n        args: {order_id: O-1}\n      - tool: refund\n"
        "        args: {order_id: O-1, amount: 100, reason: damaged}\n      - {answer: Refunded.}\n"
    )
    after = (desk / "environment.yaml").read_text()
    assert after.replace(solution, "") == before
    assert play("", command="prove").exit_code == 0


def test_a_solution_that_there_is_is_replaced_when_that_is_asked_for(play: Play, desk: Path) -> None:
    typed = "get_order order_id=O-2\nrefund order_id=O-2 amount=20 reason='wrong item'\nanswer Refunded!\n"
    ended = play(typed, "--task", "bob", "--record", "--replace")
    assert ended.exit_code == 0
    text = (desk / "environment.yaml").read_text()
    assert text.count("solution:") == 1
    assert "{answer: Refunded!}" in text or '{answer: "Refunded!"}' in text
    assert play("", command="prove").exit_code == 1  # alice has no solution yet


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("answer Refunded.\n", "Not recorded, since it did not pass."),
        (
            "refund order_id=O-1 amount=100 reason=damaged\nanswer Done.\n",
            "Not recorded. Played back by the oracle it comes to a score of 0.75, and a solution is to reach 1:",
        ),
    ],
)
def test_a_play_that_is_no_solution_is_not_recorded(play: Play, desk: Path, typed: str, words: str) -> None:
    before = (desk / "environment.yaml").read_bytes()
    ended = play(typed, "--record")
    assert ended.exit_code == 1
    assert words in ended.output
    assert (desk / "environment.yaml").read_bytes() == before


def test_what_cannot_be_written_is_shown_to_be_pasted(play: Play, desk: Path) -> None:
    file = desk / "environment.yaml"
    file.write_text(file.read_text().replace("  - id: alice ", "  - &alice\n    id: alice ") + "  - *alice\n")
    file.write_text(file.read_text().replace("  - *alice\n", "x-alice: *alice\n"))
    before = file.read_bytes()
    ended = play(PASSES, "--record")
    assert ended.exit_code == 1
    assert "is written in a way that cannot be added to safely." in ended.stderr
    assert (
        "solution:\n  - tool: refund\n    args: {order_id: O-1, amount: 100, reason: damaged}" in ended.stdout
    )
    assert file.read_bytes() == before


def test_a_file_that_changes_during_the_play_is_left_alone(
    play: Play, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk / "environment.yaml"
    import rollout.cli.playing as playing

    verdict = playing.Game._show_verdict
    edited = file.read_text().replace("# the first", "# edited meanwhile")
    monkeypatch.setattr(
        playing.Game, "_show_verdict", lambda game, rollout: (verdict(game, rollout), file.write_text(edited))
    )
    ended = play(PASSES, "--record")
    assert ended.exit_code == 1
    assert "“desk/environment.yaml” has changed since it was read." in ended.stderr
    assert file.read_text() == edited


def test_a_python_file_is_played_and_its_solution_shown(play: Play, desk: Path) -> None:
    (desk.parent / "echo.py").write_text(
        "from rollout import Environment, Task\n"
        "echo = Environment('echo', 'Echo', 'custom', [Task('Say hi.', {'said': ['hi']})], config={'tools': [\n"
        "    {'name': 'say', 'paramsSchema': {'text': 'string'}, 'response': {'ok': True},\n"
        "     'mutates': {'path': 'said[]', 'value': '${args.text}'}}], 'initialState': {'said': []}})\n"
    )
    ended = play("say text=hi\ndone\n", "--record", path="echo.py")
    assert ended.exit_code == 1
    assert "“echo.py” is no file of YAML, TOML or JSON" in ended.stderr
    assert "solution=[{'tool': 'say', 'args': {'text': 'hi'}}]," in ended.stdout


def test_an_environment_that_would_be_broken_by_its_solution_is_put_back(
    play: Play, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rollout.cli import recording

    before = (desk / "environment.yaml").read_bytes()
    read_again = recording.reports
    (desk.parent / "broken").mkdir()
    (desk.parent / "broken" / "environment.yaml").write_text("template: nothing\n")
    monkeypatch.setattr(recording, "reports", lambda paths, slug: read_again(["broken"], slug=slug))
    ended = play(PASSES, "--record")
    assert ended.exit_code == 1
    assert "Written into “desk/environment.yaml”, it would be an error:" in ended.stderr
    assert (desk / "environment.yaml").read_bytes() == before


# A run by hand


def test_a_run_by_hand_takes_the_lines_of_a_pipe(play: Play) -> None:
    typed = f"{PASSES}refund order_id=O-2 amount=2 reason=damaged\ndone\n"
    ended = play(typed, "--model", "human", "--all", "--json", "--concurrency", "8", command="test")
    data = json.loads(ended.stdout)["data"]
    assert [rollout["verdict"]["outcome"] for rollout in data["rollouts"]] == ["passed", "failed"]
    assert ended.exit_code == 1
    assert "> done" in ended.stderr


def test_a_run_by_hand_whose_lines_are_too_few_is_not_whole(play: Play) -> None:
    ended = play(PASSES, "--model", "human", "--all", command="test")
    assert ended.exit_code == 1
    assert "The input ended before the rollout did." in ended.stdout
    assert "1 passed, 0 failed, 1 error" in ended.stdout
