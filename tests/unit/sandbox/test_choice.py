"""Where there is no sandbox nothing is run and nothing passes, unless somebody asked for none in so many words."""

from __future__ import annotations

import asyncio
import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollout.engine import Outcome, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.engine.prove import prove
from rollout.environment import Environment, Task
from rollout.models import connect
from rollout.sandbox import VARIABLE, Job, SandboxError, choice, chosen, run
from rollout.sandbox.container import IMAGE
from rollout.sandbox.toolchain import PATHS, seen


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choice, "_found", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(IMAGE, raising=False)


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.usefixtures("nothing_installed")
class TestWithoutASandbox:
    def test_nothing_is_run(self) -> None:
        with pytest.raises(SandboxError) as caught:
            asyncio.run(run(Job("echo ran", {})))
        assert str(caught.value) == (
            "There is no sandbox to run commands in: bubblewrap (the program bwrap) is not installed; docker is not"
            " installed; podman is not installed. Install bubblewrap. Commands of your own run without any"
            " protection by --sandbox none."
        )

    def test_what_does_not_work_is_told_with_its_reason(self, tmp_path: Path) -> None:
        program(tmp_path, "bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
        program(tmp_path, "docker", "exit 1")
        with pytest.raises(SandboxError) as caught:
            asyncio.run(run(Job("echo ran", {})))
        assert "bubblewrap does not work here (bwrap: No permissions to create new namespace)" in str(
            caught.value
        )
        assert "docker needs an image with what the commands need, named by ROLLOUT_SANDBOX_IMAGE" in str(
            caught.value
        )

    def test_an_engine_that_cannot_be_reached_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(IMAGE, "python:3.12")
        program(tmp_path, "podman", "echo 'Cannot connect' >&2; exit 125")
        with (
            chosen("podman"),
            pytest.raises(SandboxError, match=r"podman does not work here \(Cannot connect\)"),
        ):
            asyncio.run(run(Job("echo ran", {})))

    def test_a_rollout_is_an_error_of_the_infrastructure(self) -> None:
        task = Task(
            "Write it.", solution=[{"tool": "run_command", "args": {"command": "test"}}, {"answer": "x"}]
        )
        rollout = asyncio.run(
            roll_out(
                EnvironmentWorkflow(environment(task)),
                VerifierGrader(environment(task)),
                task,
                connect("oracle"),
            )
        )
        assert rollout.verdict.outcome is Outcome.ERROR
        assert rollout.verdict.failure is not None
        assert rollout.verdict.failure.charged_to == "infrastructure"
        assert rollout.verdict.failure.sentence.startswith("There is no sandbox")

    def test_a_verdict_is_an_error_of_the_infrastructure(self) -> None:
        task = Task("Write it.", solution=[{"answer": "x"}])
        rollout = asyncio.run(
            roll_out(
                EnvironmentWorkflow(environment(task)),
                VerifierGrader(environment(task)),
                task,
                connect("noop"),
            )
        )
        assert rollout.verdict.outcome is Outcome.ERROR
        assert rollout.verdict.failure is not None
        assert rollout.verdict.failure.charged_to == "infrastructure"

    def test_nothing_is_proved(self) -> None:
        task = Task("Write it.", solution=[{"answer": "x"}])
        assert not asyncio.run(prove(environment(task))).holds


def environment(task: Task) -> Environment:
    return Environment(
        "c",
        "C",
        "code-editing",
        [task],
        config={"files": {"a": "1"}, "commands": {"test": "true"}},
        verifier={"primitives": [{"name": "t", "type": "command_passes", "command": "test"}]},
    )


class TestNone:
    def test_it_is_used_where_it_is_asked_for(self) -> None:
        with chosen("none"):
            ended = asyncio.run(run(Job("cat a; pwd; echo $OPENAI_API_KEY", {"a": "1\n"})))
        assert ended.status == 0
        assert ended.output.startswith("1\n/")

    def test_it_can_be_asked_for_by_a_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, "none")
        assert "/project" not in asyncio.run(run(Job("pwd", {}))).output

    def test_it_has_limits_too(self) -> None:
        from rollout.sandbox import Limits

        with chosen("none"):
            ended = asyncio.run(run(Job("sleep 60 & sleep 60", {}, limits=Limits(seconds=0.3))))
        assert ended.stopped == "time"

    def test_the_choice_ends_with_its_block(self) -> None:
        with chosen("none"):
            pass
        assert asyncio.run(run(Job("pwd", {}))).output == "/project\n"


def test_a_kind_that_there_is_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "chroot")
    with pytest.raises(SandboxError) as caught:
        asyncio.run(run(Job("pwd", {})))
    assert str(caught.value) == (
        "There is no sandbox “chroot”; the kinds are auto, bubblewrap, docker, podman, none."
    )


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", ""])
def test_a_path_out_of_the_folder_is_refused(path: str) -> None:
    with pytest.raises(SandboxError, match="is no path inside the working folder"):
        asyncio.run(run(Job("true", {path: "1"})))


def test_no_home_is_seen_whole() -> None:
    home = Path.home().resolve()
    assert not [path for path in seen() if home.is_relative_to(Path(path).resolve())]
    assert not [path for path in seen() if Path(path).name in (".cargo", ".local", ".config", ".ssh")]


@pytest.fixture
def fresh() -> Iterator[None]:
    """What is seen is worked out anew, within the test and after it."""
    seen.cache_clear()
    yield
    seen.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_hidden_folder_is_seen_without_its_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tmp_path / "someone" / ".cargo"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "credentials.toml").touch()
    cargo = prefix / "bin" / "cargo"
    cargo.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(cargo.parent))
    shown = [path for path in seen() if Path(path).is_relative_to(tmp_path)]
    assert shown == [str(prefix / "bin")]


@pytest.mark.usefixtures("fresh")
def test_a_home_that_is_not_named_by_home_is_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir).resolve()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(PATHS, str(home))
    assert not [path for path in seen() if home.is_relative_to(Path(path).resolve())]
