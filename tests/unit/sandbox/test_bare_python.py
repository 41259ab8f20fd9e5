"""What a Python with nothing installed can do: the scaffold's tests run, and pytest is asked for with a way to it."""

from __future__ import annotations

import asyncio
import sys
import venv
from pathlib import Path

import pytest

from rollout.check import check
from rollout.compile.scaffold import scaffold
from rollout.engine.prove import prove
from rollout.environment import Environment
from rollout.sandbox import chosen, launch
from rollout.source import read_one


@pytest.fixture(autouse=True)
def bare_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(launch, "search_path", lambda: f"{tmp_path / 'bare' / 'bin'}:/usr/bin:/bin")


def started(folder: Path, **replaced: str) -> Environment:
    for name, text in scaffold("code-editing", slug="parcels", name="Parcels").items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            text.replace("-m unittest", f"-m {replaced.get('runner', 'unittest')}"), encoding="utf-8"
        )
    return check(read_one(folder)).environment()


def test_a_new_code_editing_environment_works_as_it_is(tmp_path: Path) -> None:
    with chosen("none"):
        proof = asyncio.run(prove(started(tmp_path / "parcels")))
    assert proof.holds and proof.tasks == 3


def test_a_runner_that_is_not_installed_is_told_with_the_way_to_it(tmp_path: Path) -> None:
    with chosen("none"):
        proof = asyncio.run(prove(started(tmp_path / "parcels", runner="pytest")))
    assert not proof.holds
    said = str(proof.defects[0].facts)
    assert "pytest is not there in the sandbox; it has to be in the Python that runs rollout" in said
    assert f"“{sys.executable} -m pip install pytest”" in said
