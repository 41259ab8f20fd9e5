"""A folder whose files come to say another version: what says the same stays, byte for byte."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compile_strategies import environments
from hypothesis import event, given, note, settings
from hypothesis import strategies as st

from rollout import Environment
from rollout.check.report import environment_in
from rollout.compile import compile_environment
from rollout.compile.refold import Refolded, RefoldError, refold
from rollout.compile.spread import spread
from rollout.source import read_one

CASES = Path(__file__).parents[2] / "cases" / "refold"
PARTS = ("name", "description", "schema", "seed", "config", "verifier", "tasks")


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def apply(changes: Refolded) -> None:
    for path, data in changes.texts.items():
        assert data is None or not path.exists() or path.read_bytes() != data, (
            "what says the same is not written"
        )
        if data is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Environment, Environment]:
    """An environment, and another version of it in which some parts are another's, and some members of the config."""
    before = draw(environments())
    other = draw(environments().filter(lambda each: each.template == before.template))
    parts = draw(st.sets(st.sampled_from(PARTS), min_size=1))
    after = replace(before, **{part: getattr(other, part) for part in parts})
    if before.config and other.config and "config" not in parts:
        keys = draw(st.sets(st.sampled_from(sorted({*before.config, *other.config}))))
        config = {**before.config, **{key: other.config[key] for key in keys if key in other.config}}
        after.config = config
    if "tasks" in parts:
        after.tasks = draw(st.permutations([*before.tasks[1:], *other.tasks]))
    return before, after


@given(pair=versions(), toml=st.booleans(), one_file=st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_files_compile_to_the_version_that_is_wanted(
    pair: tuple[Environment, Environment], toml: bool, one_file: bool
) -> None:
    before, after = (compile_environment(each) for each in pair)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "refund")
        payload = {"environment": before.environment, "verifier": before.verifier}
        write(folder, spread(payload, toml=toml, one_file=one_file))
        document = read_one(folder)
        assert compile_environment(environment_in(document)).digest == before.digest
        try:
            changes = refold(document, after)
        except RefoldError as error:
            # Names that no file can have, or what TOML cannot say.
            event(f"refused: {error}")
            assert "name of a file" in str(error) or "cannot say" in str(error) or "be files" in str(error)
            return
        event("anew" if changes.anew else "in place")
        apply(changes)
        again = compile_environment(environment_in(read_one(folder)))
        note(f"{before.data}\n{again.data}\n{after.data}\n{contents(folder)}")
        assert again.digest == after.digest


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_a_folder_of_an_author_keeps_what_is_theirs(
    case: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """``before``, changed so that it says what ``wanted`` says, is ``after``."""
    folder = tmp_path / "desk"
    shutil.copytree(CASES / case / "before", folder)
    wanted = tmp_path / "wanted" / "desk"
    shutil.copytree(CASES / case / "wanted", wanted)
    after = compile_environment(environment_in(read_one(wanted)))
    changes = refold(read_one(folder), after)
    apply(changes)
    expected = CASES / case / "after"
    if request.config.getoption("--update-expected"):
        shutil.rmtree(expected, ignore_errors=True)
        shutil.copytree(folder, expected)
    assert contents(folder) == contents(expected)
    assert compile_environment(environment_in(read_one(folder))).digest == after.digest


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("toml", [False, True])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"orders": {"O-1": 5}}, {"orders": {}}),
        ({"orders": {"O-1": 5}, "people": [1]}, {}),
        ({"orders": {}}, {"orders": {}, "people": {}}),
        ({}, {"orders": {}}),
    ],
)
def test_what_is_empty_is_written_all_the_same(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], toml: bool
) -> None:
    was, wanted = (
        compile_environment(
            Environment("refund", "R", "workflow", config={"tools": [], "fixtures": fixtures})
        )
        for fixtures in (before, after)
    )
    folder = tmp_path / "refund"
    write(folder, spread({"environment": was.environment, "verifier": was.verifier}, toml=toml))
    document = read_one(folder)
    assert compile_environment(environment_in(document)).digest == was.digest
    apply(refold(document, wanted))
    assert compile_environment(environment_in(read_one(folder))).digest == wanted.digest


@pytest.mark.parametrize("suffix", [".toml", ".yaml"])
def test_the_comments_that_a_file_begins_with_are_kept_whatever_they_say(tmp_path: Path, suffix: str) -> None:
    was, wanted = (
        compile_environment(
            Environment("desk", "Desk", "workflow", config={"tools": [], "fixtures": {"orders": orders}})
        )
        for orders in ([{"id": 1}], [{"id": 1, "lines": [{"sku": 2}]}, {"id": 3}])
    )
    folder = tmp_path / "desk"
    write(folder, spread({"environment": was.environment, "verifier": was.verifier}, toml=suffix == ".toml"))
    (file,) = (path for path in folder.rglob(f"*{suffix}") if "orders" in path.name)
    comment = "# one\u2028two\x85three\n"
    file.write_bytes(f"{comment}{file.read_text()}".encode())
    document = read_one(folder)
    apply(refold(document, wanted))
    assert file.read_bytes().decode().startswith(comment)
    assert compile_environment(environment_in(read_one(folder))).digest == wanted.digest
