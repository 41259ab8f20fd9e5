"""`rollout keys`: keys by name, and by the id that the list shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app

Keys = Callable[..., Result]


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["keys", *arguments, "--data", str(tmp_path / "data")])

    return invoke


def listed(keys: Keys) -> dict[str, str]:
    """The ids by name, as the list shows them."""
    return {line.split()[-1]: line.split()[0] for line in keys("list").stdout.splitlines()}


def test_a_key_is_made_listed_and_revoked(keys: Keys) -> None:
    assert keys("create", " ci ").stdout.startswith("rk_")
    assert keys("create", "laptop").exit_code == 0
    ids = listed(keys)
    assert keys("revoke", ids["ci"]).stderr == "The key of “ci” is revoked.\n"
    assert keys("revoke", "laptop").exit_code == 0
    assert keys("list").stdout.count(" revoked ") == 2


@pytest.mark.parametrize("name", ["", " ", "n" * 101])
def test_a_name_has_the_length_that_the_server_asks_for(keys: Keys, name: str) -> None:
    ended = keys("create", name)
    assert ended.exit_code == 2
    assert ended.stderr.startswith("error: A key has a name of 1 to 100 characters.\n")
    assert keys("list").stdout == ""


@pytest.mark.parametrize("length", [0, 1, 7, 9])
def test_a_part_of_an_id_revokes_nothing(keys: Keys, length: int) -> None:
    keys("create", "ci")
    part = f"{listed(keys)['ci']}0"[:length]
    ended = keys("revoke", part)
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"error: No key is called “{part}”.\n")


def test_a_name_is_shown_without_what_a_terminal_obeys(keys: Keys) -> None:
    assert "“a␊b␛[31m”" in keys("create", "a\nb\x1b[31m").stderr
    assert "“a␊b␛[31m”" in keys("revoke", "a\nb\x1b[31m").stderr
