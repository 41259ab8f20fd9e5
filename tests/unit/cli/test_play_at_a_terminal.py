"""`rollout play` at a real terminal: completion, Ctrl-C, Ctrl-D, pasted text, and output that would take it over."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from pseudo_terminal import Terminal, at_terminal

CASE = Path(__file__).parents[2] / "cases" / "models" / "human"
PROMPT = "\n> "

Start = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    shutil.copytree(CASE, tmp_path / "desk")

    def begin(*options: str, command: str = "play", **variables: str) -> AbstractContextManager[Terminal]:
        return at_terminal(command, "desk", *options, cwd=tmp_path, **variables)

    return begin


def test_tab_completes_tools_parameters_and_what_has_been_seen(start: Start) -> None:
    with start() as person:
        person.expect(PROMPT)
        person.type("get\t")
        person.expect("get_order ")
        person.type("\t")
        person.expect("order_id=")
        person.type("O\t")
        person.expect("O-1 ")
        person.type("\n")
        person.expect('{"customer":"Alice","id":"O-1","total":100}')
        person.expect(PROMPT)
        person.type("ref\t")
        person.expect("refund ")
        person.type("o\tO\t")
        person.expect("order_id=O-1 ")
        person.type("am\t1\t")
        person.expect("amount=100 ")
        person.type("r\t")
        person.expect("reason=")
        person.type('"w\t')
        person.expect('"wrong item" ')
        person.type("\n")
        person.expect('{"ok":true,"reason":"wrong item"}')
        person.expect(PROMPT)
        person.type("ans\t")
        person.expect("answer ")
        person.type("Refunded.\n")
        person.expect("passed with a score of 1")
        assert person.wait() == 0


def test_what_a_terminal_would_obey_is_neither_shown_nor_offered(start: Start) -> None:
    with start("--show-state") as person:
        person.expect(PROMPT)
        person.type("refund reason=\t\t")
        person.expect("reason=damaged")
        person.expect(f"{PROMPT}refund reason=")
        person.interrupt()
        person.expect(PROMPT)
        person.type('note text="\\u001b[31m\\u202e"\n')
        person.expect(PROMPT)
        person.type("state\n")
        person.expect(PROMPT)
        person.type("help note\n")
        person.expect(PROMPT)
        person.type("done\n")
        assert person.wait() == 1
    shown = person.output
    assert "Write a note.␛[2J" in shown
    assert "Refund order O-1 in full.␛[1A" in shown
    assert [character for character in shown if character in "\x1b\x9b\u202e"] == []


def test_ctrl_c_drops_the_line_and_on_an_empty_line_gives_up(start: Start) -> None:
    with start() as person:
        person.expect(PROMPT)
        person.type("refund order_id=")
        person.expect("refund order_id=")
        person.interrupt()
        person.expect(PROMPT)
        person.type("get_order order_id=O-1\n")
        person.expect('"customer":"Alice"')
        person.expect(PROMPT)
        person.interrupt()
        person.expect("Given up; there is no verdict.")
        assert person.wait() == 130
    assert "score" not in person.output


@pytest.mark.parametrize("typed", ["\x04", "quit\n"])
def test_ctrl_d_and_quit_give_up(start: Start, typed: str) -> None:
    with start("--record") as person:
        person.expect(PROMPT)
        person.type(typed)
        person.expect("Given up; there is no verdict.")
        assert person.wait() == 130


def test_ctrl_c_breaks_off_what_goes_over_several_lines(start: Start) -> None:
    with start() as person:
        person.expect(PROMPT)
        person.type("note text=<<END\n")
        person.expect("… ")
        person.type("a\tb\n")
        person.expect("… ")
        person.interrupt()
        person.expect("Broken off; nothing was called.")
        person.expect(PROMPT)
        person.type("note text=<<END\n")
        person.expect("… ")
        person.type("a\tb\n")
        person.expect("… ")
        person.type("END\n")
        person.expect('{"noted":"a\\tb\\n')
        person.expect(PROMPT)
        person.type("\x04")
        assert person.wait() == 130


def test_lines_that_are_pasted_together_are_read_one_after_the_other(start: Start) -> None:
    with start() as person:
        person.expect(PROMPT)
        person.type('\x1b[200~note {\n  "text": "x"\n}\nget_order order_id=O-1\x1b[201~')
        person.type("\n")
        person.expect('{"noted":"x')
        person.expect('"customer":"Alice"')
        person.expect(PROMPT)
        person.type("\x04")
        assert person.wait() == 130


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [("y\n", 0, "Recorded in desk/environment.yaml"), ("\n", 1, "is kept"), ("Ctrl-C", 1, "is kept")],
)
def test_a_solution_that_there_is_is_only_replaced_when_the_person_says_so(
    start: Start, tmp_path: Path, answer: str, code: int, said: str
) -> None:
    file = tmp_path / "desk" / "environment.yaml"
    before = file.read_text()
    with start("--task", "bob", "--record") as person:
        person.expect(PROMPT)
        person.type("get_order order_id=O-2\n")
        person.expect(PROMPT)
        person.type("refund order_id=O-2 amount=20 reason=damaged\n")
        person.expect(PROMPT)
        person.type("answer Refunded.\n")
        person.expect("Put this one in its place? [y/N] ")
        if answer == "Ctrl-C":
            person.interrupt()
        else:
            person.type(answer)
        person.expect(said)
        assert person.wait() == code
    assert (file.read_text() == before) is (code == 1)


def test_what_was_pasted_is_no_answer_to_the_question(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "desk" / "environment.yaml"
    before = file.read_text()
    with start("--task", "bob", "--record") as person:
        person.expect(PROMPT)
        moves = "refund order_id=O-2 amount=20 reason=damaged\nanswer Refunded.\ny\ny"
        person.type(f"\x1b[200~{moves}\x1b[201~\n")
        person.expect("Put this one in its place? [y/N] ")
        person.type("\n")
        person.expect("is kept")
        assert person.wait() == 1
    assert file.read_text() == before


def test_ctrl_c_ends_a_tool_that_takes_long(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "slow.yaml").write_text(
        "template: code-editing\nname: Slow\n"
        "config:\n  files: {a.py: ''}\n"
        f"  commands: {{wait: {{command: 'touch {begun} && sleep 600', timeout: 600}}}}\n"
        "tasks: [{id: wait, instruction: Wait., hidden_ground_truth: {files: {a.py: x}}}]\n"
    )
    with at_terminal("play", "slow.yaml", "--sandbox", "none", cwd=tmp_path) as person:
        person.expect(PROMPT)
        person.type("run_command command=wait\n")
        person.until(begun.exists)
        person.interrupt()
        person.expect("Given up; there is no verdict.")
        assert person.wait() == 130


def test_without_a_line_editor_lines_are_read_all_the_same(start: Start, tmp_path: Path) -> None:
    with at_terminal("play", "desk", "--json", cwd=tmp_path, out=tmp_path / "envelope.json") as person:
        person.expect(PROMPT)
        person.type("get_order order_id=O-1\n")
        person.expect('"customer":"Alice"')
        person.expect(PROMPT)
        person.type("\x04")
        person.expect("Given up")
        assert person.wait() == 130


def test_a_run_by_hand_asks_for_one_rollout_after_the_other(start: Start) -> None:
    with start("--model", "human", "--all", command="test") as person:
        for order, amount in (("O-1", 100), ("O-2", 20)):
            person.expect(f"Refund order {order}")
            person.expect(PROMPT)
            person.type(f"refund order_id={order} amount={amount} reason=damaged\n")
            person.expect(PROMPT)
            person.type("answer Refunded.\n")
        person.expect("2 passed, 0 failed, 0 errors")
        assert person.wait() == 0


def test_a_run_by_hand_that_is_given_up_is_interrupted(start: Start) -> None:
    with start("--model", "human", "--all", command="test") as person:
        person.expect(PROMPT)
        person.type("undo\n")
        person.expect("“undo” is neither a tool nor a command.")
        person.expect(PROMPT)
        person.interrupt()
        person.expect("0 of 2 rollouts are done")
        assert person.wait() == 130
