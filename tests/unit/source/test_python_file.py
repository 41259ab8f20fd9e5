"""A Python file is run for its environments; places come from its syntax, failures name the user's own line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.check import check
from rollout.source import SourceError, read, read_one
from rollout.source.document import Document
from rollout.source.place import At, Problem, Route
from rollout.source.python_values import to_json

README = """\
from rollout import (
    Environment, Task,
    lookup_tool, action_tool, mock_tool,
    custom_tool, custom_config,
    workflow_config, code_editing_config,
    browser_page, browser_config,
    primitive, verifier_config,
)

env = Environment(
    slug="refund-agent",
    name="Refund Agent",
    template="workflow",
    config=workflow_config(
        tools=[
            lookup_tool("get_order", from_array="orders", match_field="id",
                        description="Read an order.", params_schema={"id": "string"}),
            action_tool("refund", state_array="refunds",
                        description="Issue a refund.",
                        params_schema={"order_id": "string", "amount": "number"}),
        ],
        fixtures={"orders": [{"id": "O-1", "customer": "Alice", "amount": 100}]},
        initial_mutable_state={"refunds": []},
    ),
    tasks=[
        Task(instruction="Refund order O-1 for $100",
             hidden_ground_truth={"refunds": [{"order_id": "O-1", "amount": 100}]}),
    ],
)

env.verifier = verifier_config(
    primitive("called_lookup", "tool_was_called", tool="get_order", weight=1),
    primitive("refunds_count", "state_match",
              expected={"refunds.length": 1}, weight=2),
    primitive("no_errors", "no_tool_errors", weight=1),
) | {"passThreshold": 0.5}
"""
CUSTOM = 'template="custom", config={"tools": []}'


def documents(tmp_path: Path, text: str, name: str = "envs.py", **files: str) -> list[Document]:
    for stem, content in files.items():
        (tmp_path / f"{stem}.py").write_text(content, encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read(tmp_path / name)


def only(tmp_path: Path, text: str, **files: str) -> Document:
    (document,) = documents(tmp_path, text, **files)
    return document


def tasks_of(document: Document) -> list[dict[str, Any]]:
    problems: list[Problem] = []
    return [record.value for record in document.tasks.read(problems)]


def shown(document: Document, route: Route, at: At = "value") -> str:
    """The text at a place, so that a test shows what an editor would mark."""
    span = document.span(route, at)
    lines = document.sources[0].text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    return "\n".join(lines)[span.column - 1 :]


def test_the_published_example_reads_with_the_place_of_every_literal(tmp_path: Path) -> None:
    document = only(tmp_path, README)
    assert document.problems == ()
    assert document.value["config"]["tools"][0]["fromArray"] == "orders"
    assert document.value["verifier"]["passThreshold"] == 0.5
    assert tasks_of(document) == [
        {
            "instruction": "Refund order O-1 for $100",
            "hidden_ground_truth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
            "split": "dev",
        }
    ]
    assert shown(document, ("slug",)) == '"refund-agent"'
    assert shown(document, ("slug",), "key") == "slug"
    assert shown(document, ("config", "tools", 0, "name")) == '"get_order"'
    assert shown(document, ("config", "tools", 0, "matchField"), "key") == "match_field"
    assert shown(document, ("config", "tools", 1, "paramsSchema", "amount")) == '"number"'
    assert shown(document, ("config", "fixtures", "orders", 0, "amount")) == "100"
    assert shown(document, ("config", "initialMutableState", "refunds"), "key") == '"refunds"'
    assert shown(document, ("verifier", "primitives", 1, "type")) == '"state_match"'
    assert shown(document, ("verifier", "primitives", 1, "expected", "refunds.length")) == "1"
    assert shown(document, ("verifier", "passThreshold")) == "0.5"
    assert shown(document, ("tasks", 0, "hidden_ground_truth", "refunds", 0, "order_id")) == '"O-1"'
    assert shown(document, ("tasks", 0, "split")).startswith("Task(instruction=")
    # What is not written leads to what is around it.
    assert shown(document, ("config", "tools", 0, "kind"), "value").startswith("lookup_tool(")


def test_a_threshold_has_the_place_of_its_argument(tmp_path: Path) -> None:
    text = README.replace(') | {"passThreshold": 0.5}', "    pass_threshold=0.75,\n)")
    document = only(tmp_path, text)
    assert document.value["verifier"]["passThreshold"] == 0.75
    assert shown(document, ("verifier", "passThreshold")) == "0.75"
    assert shown(document, ("verifier", "passThreshold"), "key") == "pass_threshold"
    assert shown(document, ("verifier", "primitives", 1, "type")) == '"state_match"'


def test_variables_spreads_sums_and_comprehensions_are_followed_as_far_as_the_syntax_shows(
    tmp_path: Path,
) -> None:
    document = only(
        tmp_path,
        """\
from rollout import Environment, Task
BASE = {"description": "d"}
TOOLS = [{"name": "ä", "response": 1}]
MORE = TOOLS + [{"name": "b"}]
env = Environment("s", "N", "custom",
    [*(Task(f"do {n}", split="test") for n in range(2)), Task("é", {"x": 1})],
    config={**BASE, "tools": MORE})
""",
    )
    assert document.problems == ()
    assert shown(document, ("config", "description")) == '"d"'
    assert shown(document, ("config", "tools", 0, "response")) == "1"
    assert shown(document, ("config", "tools", 1, "name")) == '"b"'
    assert shown(document, ("tasks", 1, "split")) == '"test"'
    assert shown(document, ("tasks", 0, "instruction")) == 'f"do {n}"'
    assert shown(document, ("tasks", 2, "hidden_ground_truth", "x")) == "1"
    assert shown(document, ("name",)) == '"N"'


def test_an_environment_that_a_function_makes_has_the_place_of_the_call(tmp_path: Path) -> None:
    document = only(
        tmp_path,
        f"""\
from rollout import Environment
def make(slug):
    return Environment(slug=slug, name="N", {CUSTOM})
env = make("a")
""",
    )
    assert document.slug == "a"
    assert shown(document, ("slug",)) == "slug"
    assert shown(document, ()).startswith("Environment(slug=slug")


def test_an_environment_made_in_another_file_never_has_a_place_in_the_wrong_one(tmp_path: Path) -> None:
    document = only(
        tmp_path,
        "from made import env\n",
        made=f"\n\n\nfrom rollout import Environment\nenv = Environment(slug='a', name='A', {CUSTOM})\n",
    )
    assert document.slug == "a"
    span = document.span(("config", "tools"))
    assert Path(span.path).name == "envs.py"
    assert span.line == 1


def test_several_environments_come_in_order_each_once_and_need_a_slug(tmp_path: Path) -> None:
    text = f"""\
from rollout import Environment
b = Environment(slug="b", name="B", {CUSTOM})
others = [Environment(slug="a", name="A", {CUSTOM}), b]
again = b
table = {{"c": Environment(slug="c", name="C", {CUSTOM})}}
"""
    found = documents(tmp_path, text)
    assert [document.slug for document in found] == ["b", "a", "c"]
    assert found[0].label.endswith("envs.py (b)")
    path = tmp_path / "envs.py"
    assert read_one(path, slug="a").slug == "a"
    with pytest.raises(SourceError) as raised:
        read_one(path)
    assert str(raised.value).startswith("There are 3 environments in “")
    assert raised.value.hint == "Choose one with --slug: “b”, “a”, “c”."
    with pytest.raises(SourceError):
        read(path, slug="d")


def test_the_file_runs_in_a_module_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = set(sys.modules), sys.path[:], sys.argv, sys.dont_write_bytecode
    text = f"""\
import sys, os
from pathlib import Path
import beside
from rollout import Environment
assert __name__ == "envs", __name__
assert Path(__file__).is_absolute() and Path(__file__).name == "envs.py"
assert sys.argv == [str(Path(__file__))]
print("hello")
os.chdir("/")
env = Environment(slug=beside.SLUG, name="N", {CUSTOM})
"""
    current = Path.cwd()
    assert only(tmp_path, text, beside="SLUG = 'from-beside'\n").slug == "from-beside"
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == "hello\n"
    assert Path.cwd() == current
    assert sys.path == before[1] and sys.argv is before[2] and sys.dont_write_bytecode is before[3]
    assert "beside" not in sys.modules and "envs" not in sys.modules
    assert not list(tmp_path.glob("**/__pycache__"))


def test_two_files_beside_different_modules_of_one_name_do_not_mix(tmp_path: Path) -> None:
    text = f"from rollout import Environment\nimport beside\nenv = Environment(slug=beside.SLUG, name='N', {CUSTOM})\n"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert only(tmp_path / name, text, beside=f"SLUG = {name!r}\n").slug == name


def test_dataclasses_and_annotations_work_in_the_file(tmp_path: Path) -> None:
    text = f"""\
from __future__ import annotations
from dataclasses import dataclass
from rollout import Environment

@dataclass
class Row:
    slug: str

env = Environment(slug=Row("a").slug, name="N", {CUSTOM})
"""
    assert only(tmp_path, text).slug == "a"


@pytest.mark.parametrize(
    ("text", "type_", "place"),
    [
        ("x = 1\ny = x / 0\n", "ZeroDivisionError", "2:5"),
        ("x = (\n", "SyntaxError", "1:5"),
        ("def f():\n  return 1\n\treturn 2\n", "TabError", None),
        ("raise SystemExit\n", "SystemExit", "1:1"),
        ("import no_such_module_here\n", "ModuleNotFoundError", "1:1"),
        ("def f():\n    f()\nf()\n", "RecursionError", "2:5"),
        ("raise BaseException('x')\n", "BaseException", "1:1"),
        ("class E(Exception):\n    def __str__(self): 1/0\nraise E\n", "E", "3:1"),
        ("é = 'ü' + 1\n", "TypeError", "1:5"),
        ("input('Which one? ')\n", "EOFError", "1:1"),
        ("import json\njson.loads('{')\n", "JSONDecodeError", "2:1"),
        ("import beside\n\nbeside.fail()\n", "KeyError", "2:12"),
        ("import broken\n", "SyntaxError", "1:1"),
        ("from rollout import NoSuchName\n", "ImportError", "1:1"),
        ("x = 'a\x00b'\n", "SyntaxError", "1:1"),
        ("x = " + "(" * 5000 + "\n", None, None),
        ("x = " + "-" * 100000 + "1\n", None, None),
        ("", None, "1:1"),
    ],
)
def test_whatever_the_file_raises_is_a_problem_at_the_users_own_line(
    tmp_path: Path, text: str, type_: str | None, place: str | None
) -> None:
    document = only(tmp_path, text, beside="def fail():\n    return {}[1]\n", broken=")\n")
    (problem,) = document.problems
    assert not document.readable
    assert problem.slug in ("python-file-failed", "no-environment-in-file", "binary-file")
    assert type_ is None or problem.slug == "binary-file" or problem.facts["type"] == type_
    if place is not None and problem.slug != "binary-file":
        assert f"{problem.span.line}:{problem.span.column}" == place
    assert tasks_of(document) == []


def test_the_steps_that_led_to_a_failure_are_the_users_own(tmp_path: Path) -> None:
    text = "import json\nimport beside\n\ndef load():\n    return beside.read('{')\n\nload()\n"
    (problem,) = only(
        tmp_path, text, beside="import json\ndef read(text):\n    return json.loads(text)\n"
    ).problems
    assert Path(problem.span.path).name == "beside.py"
    steps = [(Path(span.path).name, span.line) for span, _ in problem.facts["see"]]
    assert steps == [("envs.py", 7), ("envs.py", 5)]


def test_an_interrupt_that_the_file_raises_itself_is_a_failure_of_the_file(tmp_path: Path) -> None:
    (problem,) = only(tmp_path, "x = 1\nraise KeyboardInterrupt\n").problems
    assert (problem.slug, problem.facts["type"], problem.span.line) == (
        "python-file-failed",
        "KeyboardInterrupt",
        2,
    )


def test_what_json_does_not_have_is_a_problem_at_its_place(tmp_path: Path) -> None:
    document = only(
        tmp_path,
        """\
from datetime import date
from rollout import Environment, Task
loop = []
loop.append(loop)
env = Environment(slug="a", name="A", template="custom",
    tasks=[Task("x", {"when": date(2025, 1, 1)}), {"instruction": "y"}, 7],
    config={"tools": ({"name": "t"},), "s": {1}, "n": float("nan"), 3: 4, "loop": loop, "bad": "\\ud800"})
""",
    )
    assert [(p.slug, p.facts["route"], p.span.line) for p in document.problems] == [
        ("not-json", ("config", "s"), 7),
        ("bad-number", ("config", "n"), 7),
        ("not-json", ("config",), 7),
        ("not-json", ("config", "loop", 0), 7),
        ("lone-surrogate", ("config", "bad"), 7),
        ("not-json", ("tasks", 0, "hidden_ground_truth", "when"), 6),
    ]
    assert document.value["config"]["tools"] == [{"name": "t"}]
    assert document.unread == {"config", "tasks"}
    problems: list[Problem] = []
    assert [record.value["instruction"] for record in document.tasks.read(problems)] == ["x", "y"]
    assert [problem.slug for problem in problems] == ["task-not-an-object"]


def test_tasks_from_a_file_have_the_place_of_their_own_line_until_they_are_changed(tmp_path: Path) -> None:
    lines = ['{"instruction": "a", "id": "t1", "solution": [{"answer": "b"}]}', "", '{"instruction": "c"}']
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines) + "\n")
    document = only(
        tmp_path,
        f"""\
from pathlib import Path
from rollout import Environment, Task
env = Environment(slug="a", name="A", {CUSTOM})
env.tasks = Task.from_jsonl(Path(__file__).with_name("tasks.jsonl"))
env.tasks[1].split = "test"
""",
    )
    assert tasks_of(document) == [
        {"instruction": "a", "split": "dev", "id": "t1", "solution": [{"answer": "b"}]},
        {"instruction": "c", "split": "test"},
    ]
    span = document.span(("tasks", 0, "solution", 0, "answer"))
    assert (Path(span.path).name, span.line, span.text[span.column - 1 : span.end_column - 1]) == (
        "tasks.jsonl",
        1,
        '"b"',
    )
    assert shown(document, ("tasks", 1, "instruction")).startswith("Task.from_jsonl(")


def test_paths_of_files_stay_in_the_folder_in_python_too(tmp_path: Path) -> None:
    document = only(
        tmp_path,
        """\
from rollout import Environment
env = Environment("a", "A", "code-editing", config={"files": {"../x": ""}})
""",
    )
    assert [problem.slug for problem in document.problems] == ["path-leaves-folder"]
    assert shown(document, ("config", "files", "../x"), "key") == '"../x"'


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.binary()
    | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(ODD)
def test_any_value_becomes_json_or_a_problem(value: Any) -> None:
    import json

    told: list[tuple[str, Route]] = []
    made = to_json(value, (), lambda slug, route, facts: told.append((slug, route)))
    text = json.dumps(made, allow_nan=False, ensure_ascii=False)
    assert text.encode("utf-8")
    if not told:
        assert json.loads(text) == json.loads(json.dumps(value))


@settings(max_examples=40, deadline=None)
@given(st.text("abc=()[]{}'\"\n :,.1+#\\", max_size=40))
def test_random_python_never_raises(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("random")
    (document,) = documents(folder, text)
    assert len(document.problems) == 1


@pytest.mark.parametrize("before", [0, 250, 275, 290])
def test_a_key_in_what_a_file_raises_is_not_shown_even_where_the_sentence_ends_in_it(
    tmp_path: Path, before: int
) -> None:
    key = "sk-" + "ant-api03-Ab3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
    path = tmp_path / "broken.py"
    path.write_text(
        f"KEY = {key!r}\nraise ValueError('no ' + 'x' * {before} + ' ' + KEY)\n", encoding="utf-8"
    )
    [document] = read(path)
    [found] = check(document).diagnostics
    assert "Ab3d" not in found.message and "no" in found.message
