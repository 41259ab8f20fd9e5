"""An environment as a Python file: it says the same, the same each time, and nothing of it is code."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollout.check.report import environment_in
from rollout.compile import compile_environment
from rollout.compile.python_source import python_source
from rollout.environment import Environment, Task
from rollout.source import find, read_one

ENVIRONMENTS = find([str(Path(__file__).parents[3] / "environments")])
HOSTILE = '""")\'); __import__("os").system("touch hacked") #\r\n\u2028\\ {x} %s \x00 \U0001f600'


def read_back(text: str, folder: Path) -> Environment:
    file = folder / "environment.py"
    file.write_text(text, encoding="utf-8", newline="")
    return environment_in(read_one(file))


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.name)
def test_it_says_the_same(path: Path, tmp_path: Path) -> None:
    environment = environment_in(read_one(path))
    text = python_source(environment)
    assert python_source(environment) == text
    again = read_back(text, tmp_path)
    assert compile_environment(again).digest == compile_environment(environment).digest
    assert [(task.id, task.solution) for task in again.tasks] == [
        (task.id, task.solution) for task in environment.tasks
    ]
    assert (again.dialect, again.now, again.read_only) == (
        environment.dialect,
        environment.now,
        environment.read_only,
    )


def test_no_text_and_no_key_becomes_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = Environment(
        slug="hostile",
        name=HOSTILE,
        template="custom",
        description=HOSTILE,
        config={
            "description": HOSTILE,
            "tools": [{"name": HOSTILE, "response": {HOSTILE: HOSTILE}, "x) or f(": 1, "class": 2}],
            "initialState": {HOSTILE: [HOSTILE]},
            "x-=1": HOSTILE,
        },
        verifier={"primitives": [{"name": HOSTILE, "type": "output_equals", "not": True, "value)": HOSTILE}]},
        tasks=[Task(HOSTILE, {HOSTILE: -1.5}, {HOSTILE: None}, id=HOSTILE, solution=[{"answer": HOSTILE}])],
    )
    names: dict[str, object] = {}
    exec(compile(python_source(environment), "environment.py", "exec"), names)
    assert names["env"] == environment
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: 2}, object(), b"x"])
def test_what_has_no_literal_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="has no literal"):
        python_source(Environment("a", "A", "custom", config={"tools": [], "initialState": {"a": value}}))
