"""A platform whose every text holds commands for a terminal: commands show them, and the terminal obeys none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from servers.chat import ChatServer, http
from typer.testing import CliRunner

from rollout.cli import app
from rollout.cli.following import Following, rollout_line, show_run
from rollout.cli.output import note, show

HOSTILE = "\x1b[2J\x1b]0;PWN\x07\x1b[8m\x9b2K\r"
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
RUN = {
    "id": f"r{HOSTILE}",
    "status": f"done{HOSTILE}",
    "successRate": 1.0,
    "progress": 1,
    "n": 1,
    "model": f"noop{HOSTILE}",
    "environmentName": f"Desk{HOSTILE}",
    "environmentId": "e",
    "name": f"name{HOSTILE}",
}
ROLLOUT = {"id": HOSTILE, "taskId": HOSTILE, "instruction": f"Do.{HOSTILE}", "passed": True, "score": 1.0}


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("whoami",), {"name": f"ci{HOSTILE}", "prefix": f"rk_{HOSTILE}", "scope": f"write{HOSTILE}"}),
        (("run", "desk", "-m", "noop", "--no-watch"), {"runId": f"r{HOSTILE}", "total": 3}),
        (("resume", "r1", "--no-watch"), {"run": RUN}),
        (("cancel", "r1"), {"run": {**RUN, "status": "cancelled"}}),
        (("show", "abc1"), {"run": RUN, "rollouts": [ROLLOUT]}),
        (("runs",), {"runs": [RUN]}),
        (("runs",), {"error": f"No.{HOSTILE}", "hint": HOSTILE}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_no_command_lets_a_platform_write_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], answer: Any
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("ROLLOUT_API_KEY", "rk_5fd1c2a90b7e4d33")
    monkeypatch.setenv("FORCE_COLOR", "")
    with ChatServer([http(403 if "error" in answer else 200, json.dumps(answer))]) as server:
        monkeypatch.setenv("ROLLOUT_ENDPOINT", server.address.removesuffix("/v1"))
        ended = CliRunner().invoke(app, list(arguments), color=True)
    assert "␛" in ended.output
    assert not OBEYED.search(ended.output)


def test_what_is_followed_is_told_without_commands(capsys: pytest.CaptureFixture[str]) -> None:
    show(rollout_line({**ROLLOUT, "outcome": f"failed{HOSTILE}", "reason": HOSTILE}))
    show_run({**RUN, "reason": HOSTILE})
    assert not OBEYED.search(capsys.readouterr().out)


def test_of_what_a_terminal_obeys_only_colours_line_breaks_and_tabs_are_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for write in (show, note):
        write("\x1b[1;31ma\x1b[0m\n\tb\x1b[2J\x1b]0;c\x07\x9b2K\r\x08\x7f")
    told = capsys.readouterr()
    assert told.out == told.err == "\x1b[1;31ma\x1b[0m\n\tb␛[2J␛]0;c␇<U+009B>2K␍␈␡\n"


def test_what_an_endpoint_calls_a_run_is_one_word_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted:
        endpoint = "https://other.example"

        def watch_run(self, run_id: str) -> None:
            raise KeyboardInterrupt

    followed = Following(cast(Any, Interrupted()), "a; b", 1)
    with pytest.raises(typer.Exit):
        followed.follow_and_tell("run", as_json=False, to_go_on="")
    told = capsys.readouterr().err
    assert "rollout show 'a; b'\n" in told
    assert "rollout cancel 'a; b'\n" in told
