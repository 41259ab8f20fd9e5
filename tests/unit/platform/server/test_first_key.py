"""The first key of a server: whatever goes wrong at its first start, nobody is left with a key that was never shown."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from servers.rollout_server import Platform
from typer.testing import CliRunner

from rollout.cli import app
from rollout.platform.server.serving import ServeError, check_keys, first_key
from rollout.platform.store import Store, keys


def serve(data: Path, *arguments: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["serve", "--data", str(data), *arguments], prog_name="rollout")
    return ended.exit_code, ended.output


def stored(data: Path) -> list[keys.Key]:
    store = Store(f"sqlite:///{data / 'rollout.db'}")
    try:
        return store.read(keys.list_all)
    finally:
        store.close()


def test_a_start_where_nobody_can_listen_makes_no_key(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = serve(tmp_path / "data", "--port", str(taken.getsockname()[1]))
    assert (code, "Nobody can listen at 127.0.0.1" in said, "rk_" in said) == (3, True, False)
    assert stored(tmp_path / "data") == []
    with Platform(tmp_path / "data") as platform:
        headers = {"authorization": f"Bearer {platform.key}"}
        assert httpx.get(f"{platform.address}/api/whoami", headers=headers).json()["scope"] == "admin"


def test_a_start_without_uvicorn_makes_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, said = serve(tmp_path / "data", "--port", "0")
    assert (code, "uvicorn is not installed" in said) == (3, True)
    assert stored(tmp_path / "data") == []


def test_a_key_is_shown_before_it_is_kept(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'rollout.db'}")

    def cannot_show(whole: str) -> None:
        raise BrokenPipeError

    shown: list[str] = []
    try:
        with pytest.raises(BrokenPipeError):
            first_key(store, cannot_show)
        assert not store.read(keys.are_there)
        first_key(store, shown.append)
        first_key(store, shown.append)
        (whole,) = shown
        assert store.read(keys.known, whole) is not None
    finally:
        store.close()


def test_a_server_that_is_killed_before_its_key_is_kept_shows_another_one(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from rollout.platform.server.serving import first_key\n"
        "from rollout.platform.store import Store\n"
        f"first_key(Store('sqlite:///{tmp_path / 'rollout.db'}'), lambda _: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], env={**os.environ}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert stored(tmp_path) == []
    with Platform(tmp_path) as platform:
        assert platform.key


def test_a_server_that_others_reach_needs_a_key_first(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'rollout.db'}")
    try:
        with pytest.raises(ServeError):
            check_keys(store, "0.0.0.0")
        check_keys(store, "127.0.0.1")
        store.write(keys.create, "mine")
        check_keys(store, "0.0.0.0")
    finally:
        store.close()
