"""Writing a solution back: whatever is recorded is read again as it was, and nothing else in the file changes.

Each folder of ``tests/cases/record/written`` has a task “two”, whose solution is written; beside it stands what the
file is then. ``--update-expected`` writes that anew.
"""

from __future__ import annotations

import json
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rollout.compile.record import Home, RecordError, find_home, to_paste, with_solution
from rollout.source import read

CASES = Path(__file__).parents[2] / "cases" / "record"
WRITTEN = sorted(path.name for path in (CASES / "written").iterdir() if path.is_dir())
REFUSED = sorted(path.name for path in (CASES / "refused").iterdir())
SOLUTION = [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}, {"answer": "Done."}]

TRICKY = st.sampled_from(
    (
        *("", " ", "yes", "no", "null", "~", "1e3", "012", "12:30", "2024-01-31", "#", " # x", "a: b", "- a"),
        *("*a", "&a", "!t", "'", '"', "\\", "{{x}}", "${args.x}", "a\nb", "a\n\n b\n", "\n", "\r\n", "\t"),
        *(
            "\u2028",
            "\x85",
            "\ufeff",
            "\x00",
            "\x1b[2J",
            "\u202e",
            "é😀",
            "'''",
            '"""',
            "---",
            "...",
            "a\nb # c",
        ),
        "x" * 300,
    )
)
TEXT = TRICKY | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    TEXT | NUMBERS | st.booleans(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXT, inside, max_size=3),
    max_leaves=8,
)
ARGS = st.dictionaries(TEXT, VALUES, max_size=3)
CALLS = st.builds(
    lambda tool, args: {"tool": tool, **({"args": args} if args else {})}, TEXT.filter(bool), ARGS
)
SOLUTIONS = st.builds(
    lambda calls, answer: [*calls, *([{"answer": answer}] if answer else [])],
    st.lists(CALLS, min_size=1, max_size=3),
    TEXT,
)


def laid_out(case: Path, folder: Path) -> tuple[Path, Home]:
    """A copy of a case, with its file that has the tasks, and where the task “two” stands."""
    shutil.copytree(case, folder, dirs_exist_ok=True)
    [document] = read(folder)
    assert document.readable
    home = find_home(document, 1)
    return folder / home.path.name, home


def tasks(folder: Path) -> list[dict[str, Any]]:
    [document] = read(folder)
    assert document.readable
    return [record.value for record in document.tasks.read([])]


def others(found: list[dict[str, Any]]) -> str:
    """All that the tasks say but the solution of “two”; a text, so that 1 is not 1.0."""
    return json.dumps(
        [{key: task[key] for key in task if (task["id"], key) != ("two", "solution")} for task in found]
    )


@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_written_as_an_author_would(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file, home = laid_out(CASES / "written" / name, tmp_path)
    with_solution(home, SOLUTION).write()
    expected = CASES / "written" / f"{name}.expected"
    if request.config.getoption("--update-expected"):
        expected.write_bytes(file.read_bytes())
    assert file.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(solution=SOLUTIONS)
@example(solution=[{"tool": "write", "args": {"text": "a\n  b # c\n\n"}}, {"answer": "x\ny"}])
@example(solution=[{"tool": "#", "args": {"a: b": "yes", "n": 1e3, "d": "2024-01-31"}}, {"answer": "# a"}])
def test_what_is_recorded_is_read_again_and_nothing_else_changes(
    name: str, solution: list[dict[str, Any]], tmp_path: Path
) -> None:
    file, home = laid_out(CASES / "written" / name, tmp_path)
    before, written = tasks(tmp_path), file.read_bytes()
    change = with_solution(home, solution)
    assert file.read_bytes() == written
    change.write()
    after = tasks(tmp_path)
    assert json.dumps(after[1]["solution"]) == json.dumps(solution)
    assert others(after) == others(before)
    gone = taken_away(written, file.read_bytes())
    if "solution" in before[1]:
        assert b"instruction" not in gone
    else:
        assert gone == b""
    change.take_back()
    assert file.read_bytes() == written


def taken_away(before: bytes, after: bytes) -> bytes:
    """What is missing between the part that both begin with and the part that both end with."""
    start = common(before, after)
    end = common(before[start:][::-1], after[start:][::-1])
    return before[start : len(before) - end]


def common(one: bytes, other: bytes) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("name", REFUSED)
def test_a_task_that_cannot_be_changed_alone_is_left_as_it_is(name: str, tmp_path: Path) -> None:
    file, home = laid_out(CASES / "refused" / name, tmp_path)
    before = file.read_bytes()
    with pytest.raises(RecordError, match="cannot be added to safely"):
        with_solution(home, SOLUTION)
    assert file.read_bytes() == before


def test_what_toml_cannot_say_is_refused_with_a_reason(tmp_path: Path) -> None:
    _, home = laid_out(CASES / "written" / "toml", tmp_path)
    with pytest.raises(RecordError, match="TOML has no null"):
        with_solution(home, [{"tool": "a", "args": {"x": None}}])


@pytest.mark.parametrize("name", ["block", "lines", "toml", "json"])
def test_a_file_that_has_changed_meanwhile_is_left_alone(name: str, tmp_path: Path) -> None:
    file, home = laid_out(CASES / "written" / name, tmp_path)
    change = with_solution(home, SOLUTION)
    edited = file.read_bytes().replace(b"two", b"owt")
    file.write_bytes(edited)
    with pytest.raises(RecordError, match="has changed since it was read"):
        with_solution(home, SOLUTION)
    with pytest.raises(RecordError, match="has changed since it was read"):
        change.write()
    assert file.read_bytes() == edited


def test_a_file_whose_lines_are_fewer_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file, home = laid_out(CASES / "written" / "lines", tmp_path)
    file.write_bytes(b"")
    with pytest.raises(RecordError, match="has changed since it was read"):
        with_solution(home, SOLUTION)


def test_a_file_that_is_gone_meanwhile_is_said(tmp_path: Path) -> None:
    file, home = laid_out(CASES / "written" / "block", tmp_path)
    file.unlink()
    with pytest.raises(RecordError, match="cannot be read any more: No such file"):
        with_solution(home, SOLUTION)


def test_what_the_system_does_not_let_be_written_is_said(tmp_path: Path) -> None:
    file, home = laid_out(CASES / "written" / "block", tmp_path)
    change = with_solution(home, SOLUTION)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(RecordError, match="cannot be written: File too large"):
            change.write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_bytes() == change.before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["environment.yaml", "tasks.yaml"]


def test_the_mode_of_the_file_is_kept_and_a_link_is_followed(tmp_path: Path) -> None:
    file, _ = laid_out(CASES / "written" / "block", tmp_path)
    file.chmod(0o640)
    moved = file.rename(tmp_path / "elsewhere.yaml")
    file.symlink_to(moved.name)
    with_solution(find_home(read(tmp_path)[0], 1), SOLUTION).write()
    assert file.is_symlink()
    assert moved.stat().st_mode & 0o777 == 0o640
    assert b"refund" in moved.read_bytes()


def test_a_python_file_is_not_written_into(tmp_path: Path) -> None:
    file = tmp_path / "desk.py"
    file.write_text(
        "from rollout import Environment, Task\n"
        "desk = Environment('desk', 'Desk', 'workflow', [Task('Do it.')], config={'tools': []})\n"
    )
    with pytest.raises(RecordError, match="no file of YAML, TOML or JSON"):
        find_home(read(file)[0], 0)


def test_what_is_to_be_pasted_is_in_the_language_of_the_file(tmp_path: Path) -> None:
    shown = [
        to_paste(laid_out(CASES / "written" / name, tmp_path / name)[1], SOLUTION)
        for name in ("block", "lines")
    ]
    assert shown[0] == (
        "solution:\n  - tool: refund\n    args: {order_id: O-1, amount: 100}\n  - {answer: Done.}"
    )
    assert json.loads(f"{{{shown[1]}}}") == {"solution": SOLUTION}
    assert eval(f"dict({to_paste(None, SOLUTION)})") == {"solution": SOLUTION}
