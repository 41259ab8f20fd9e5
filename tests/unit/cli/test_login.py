"""`rollout login`, `logout`, `whoami` and `envs`: keys are asked for, tried and kept, and never shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pseudo_terminal import at_terminal
from servers.published import KEY, Published
from typer.testing import CliRunner, Result

from rollout.cli import app

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk" / "environment.yaml"
Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ROLLOUT_ENDPOINT", "ROLLOUT_API_KEY", "XDG_CONFIG_HOME", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def run(home: Path) -> Run:
    def invoke(*arguments: str, typed: str = "") -> Result:
        result = CliRunner().invoke(app, list(arguments), input=typed)
        assert KEY not in result.output
        return result

    return invoke


def keys(home: Path) -> dict[str, str]:
    file = home / ".config" / "rollout" / "credentials"
    return json.loads(file.read_text()) if file.exists() else {}


def test_a_key_is_tried_before_it_is_kept(run: Run, home: Path) -> None:
    with Published() as platform:
        refused = run("login", "--endpoint", platform.address, typed="rk_wrong\n")
        assert refused.exit_code == 3
        assert f"error: {platform.address} did not accept the key" in refused.stderr
        assert keys(home) == {}
        done = run("login", "--endpoint", f"{platform.address}/", typed=f"  {KEY}\r\n")
        assert (done.exit_code, done.stdout) == (0, f"✓ saved credentials for {platform.address}\n")
        assert keys(home) == {platform.address: KEY}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "The key is empty."),
        ("\n", "The key is empty."),
        ("sk-proj-4711\n", "A key of a platform begins with rk_."),
        ("rk_a b\n", "The key has characters that no key has."),
        ("rk_ä\n", "The key has characters that no key has."),
    ],
)
def test_what_is_no_key_is_sent_nowhere(run: Run, home: Path, typed: str, words: str) -> None:
    with Published() as platform:
        refused = run("login", "--endpoint", platform.address, typed=typed)
        assert platform.asked == []
    assert (refused.exit_code, keys(home)) == (2, {})
    assert words in refused.stderr
    assert "4711" not in refused.output


def test_a_person_types_it_unseen(home: Path) -> None:
    with (
        Published() as platform,
        at_terminal("login", "--endpoint", platform.address, cwd=home) as terminal,
    ):
        terminal.expect("Paste API key (rk_…): ")
        terminal.type(f"{KEY}\r")
        terminal.expect(f"✓ saved credentials for {platform.address}")
        assert terminal.wait() == 0
        assert f"Get an API key at {platform.address}/settings/api-keys" in terminal.output
        assert KEY not in terminal.output
    assert keys(home) == {platform.address: KEY}


def test_the_first_endpoint_is_the_one_that_is_asked_and_default_chooses_another(run: Run) -> None:
    with Published() as one, Published() as other:
        run("login", "--endpoint", one.address, typed=KEY)
        assert run("whoami").stdout.startswith(f"{one.address} (rollout login)\n")
        second = run("login", "--endpoint", other.address, typed=KEY)
        assert f"It is asked with --endpoint {other.address}" in second.stderr
        assert run("whoami").stdout.startswith(one.address)
        run("login", "--endpoint", other.address, "--default", typed=KEY)
        assert run("whoami").stdout.startswith(other.address)
        run("login", "--endpoint", "local", "--default")
        assert run("whoami").stdout == "local (rollout login)\nIt needs no key.\n"


def test_a_project_does_not_say_where_a_key_is_typed_into(run: Run, home: Path) -> None:
    with Published() as platform:
        Path("rollout.toml").write_text('endpoint = "http://127.0.0.1:9"\n')
        os.environ["ROLLOUT_ENDPOINT"] = platform.address
        try:
            assert run("login", typed=KEY).exit_code == 0
        finally:
            del os.environ["ROLLOUT_ENDPOINT"]
        assert list(keys(home)) == [platform.address]


def test_whoami_says_that_the_key_is_accepted_and_not_what_it_is(run: Run) -> None:
    with Published() as platform:
        run("login", "--endpoint", platform.address, typed=KEY)
        assert run("whoami").stdout.endswith("The key rk_of_… is accepted.\n")
        data = json.loads(run("whoami", "--json").stdout)
        assert data["command"] == "whoami"
        assert data["data"] == {
            "endpoint": platform.address,
            "chosen_by": "rollout login",
            "key": "rk_of_…",
            "whoami": None,
        }


def test_a_key_is_forgotten(run: Run, home: Path) -> None:
    with Published() as platform:
        run("login", "--endpoint", platform.address, typed=KEY)
        assert run("logout").stdout == f"✓ forgot the key for {platform.address}\n"
        assert keys(home) == {}
        assert (
            run("logout", "--endpoint", platform.address).stdout
            == f"There is no key for {platform.address}.\n"
        )
        assert "There is no key for https://rollout.mv37.org." in run("whoami").stderr


@pytest.mark.parametrize(
    "command",
    [
        ("whoami",),
        ("envs",),
        ("runs",),
        ("push", "."),
        ("pull", "a"),
        ("run", "a", "-m", "noop"),
        ("show", "a"),
    ],
)
def test_with_nothing_set_a_command_says_so_and_offers_local(run: Run, command: tuple[str, ...]) -> None:
    Path("environment.yaml").write_text("template: custom\nconfig: {tools: [{name: a, response: b}]}\n")
    refused = run(*command)
    assert refused.exit_code == 3
    assert refused.stderr.startswith("error: There is no key for https://rollout.mv37.org.\n  help: ")
    assert "--endpoint local, which needs none" in refused.stderr


@pytest.mark.parametrize(
    "command", [("login",), ("logout",), ("whoami",), ("envs",), ("push", "."), ("cancel", "a")]
)
def test_what_is_no_endpoint_is_wrong_usage(run: Run, command: tuple[str, ...]) -> None:
    refused = run(*command, "--endpoint", "rollout.mv37.org")
    assert refused.exit_code == 2
    assert "error: “rollout.mv37.org” is no address of a platform." in refused.stderr


def test_a_file_of_keys_that_others_can_read_is_refused(run: Run, home: Path) -> None:
    with Published() as platform:
        run("login", "--endpoint", platform.address, typed=KEY)
        file = home / ".config" / "rollout" / "credentials"
        file.chmod(0o644)
        for command in (("envs",), ("logout",), ("login", "--endpoint", platform.address)):
            refused = run(*command, typed=KEY)
            assert refused.exit_code == 3
            assert f"help: Take that away with: chmod 600 {file}" in refused.stderr


def test_environments_are_listed_and_their_versions_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLOUT_ENDPOINT", "local")
    assert "Push one: rollout push PATH" in run("envs").stderr
    desk = Path("desk.yaml")
    for name in ("Desk", "Night desk"):
        desk.write_text(DESK.read_text().replace("name: Refunds", f"name: {name}"))
        assert run("push", "desk.yaml").exit_code == 0
    listed = run("envs").stdout.splitlines()
    assert listed[0].split() == ["slug", "name", "template", "tasks", "version", "updated", "(UTC)"]
    assert listed[1].split()[:6] == ["desk", "Night", "desk", "workflow", "3", "2"]
    versions = run("envs", "--versions", "desk").stdout.splitlines()
    assert [line.split()[0] for line in versions[1:]] == ["2", "1"]
    assert versions[1].endswith("held now") and not versions[2].endswith("held now")
    data = json.loads(run("envs", "--versions", "desk", "--json").stdout)["data"]
    assert [each["number"] for each in data["versions"]] == [2, 1]
    assert run("envs", "--versions", "nope").exit_code == 3
