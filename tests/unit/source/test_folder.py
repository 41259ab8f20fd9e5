"""A folder is put together by one rule: a top-level key may live in a file named after it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.check import check_all
from rollout.source import find, read
from rollout.source.document import Document
from rollout.source.folder import leaves_folder
from rollout.source.place import Problem

CONFIG = "tools: [{name: refund, kind: action, stateArray: refunds}]\ninitialMutableState: {refunds: []}\n"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return folder


def read_only(path: Path) -> Document:
    (document,) = read(path)
    return document


def tasks_of(document: Document) -> list[dict[str, Any]]:
    problems: list[Problem] = []
    tasks = [record.value for record in document.tasks.read(problems)]
    assert problems == []
    return tasks


def slugs(document: Document) -> list[str]:
    return [problem.slug for problem in document.problems]


def test_every_key_may_live_in_a_file_of_its_own_and_keeps_its_place(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "refund-agent",
        {
            "environment.yaml": "template: workflow\n",
            "description.md": "Refunds.\r\nFor a shop.\r\n\r\n",
            "config.toml": 'initialMutableState = { refunds = [] }\n[[tools]]\nname = "refund"\n',
            "tasks.jsonl": '{"instruction": "a"}\n\n{"instruction": "b"}\n',
            "verifier.json": '{"primitives":\n  [{"name": "x"}]}',
        },
    )
    document = read_only(folder)
    assert document.problems == ()
    assert document.readable
    assert document.value == {
        "template": "workflow",
        "description": "Refunds.\nFor a shop.",
        "config": {"initialMutableState": {"refunds": []}, "tools": [{"name": "refund"}]},
        "verifier": {"primitives": [{"name": "x"}]},
    }
    assert [task["instruction"] for task in tasks_of(document)] == ["a", "b"]
    label = folder.as_posix()
    assert str(document.span(("config", "tools", 0, "name"), "key")) == f"{label}/config.toml:3:1"
    assert str(document.span(("verifier", "primitives", 0, "name"))) == f"{label}/verifier.json:2:13"
    assert str(document.span(("description",))) == f"{label}/description.md:1:1"
    assert str(document.span(("tasks", 1, "instruction"))) == f"{label}/tasks.jsonl:3:17"
    assert str(document.span(("template",))) == f"{label}/environment.yaml:1:11"
    assert {source.path.name for source in document.sources} == {
        "environment.yaml",
        "description.md",
        "config.toml",
        "verifier.json",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("environment.yaml", "template: custom\nconfig: {tools: []}\ntasks: [{instruction: a}]\n"),
        ("environment.yml", "template: custom\nconfig: {tools: []}\ntasks: [{instruction: a}]\n"),
        ("environment.toml", 'template = "custom"\nconfig.tools = []\n[[tasks]]\ninstruction = "a"\n'),
        (
            "environment.json",
            '{"template": "custom", "config": {"tools": []}, "tasks": [{"instruction": "a"}]}',
        ),
        ("mine.yaml", "template: custom\nconfig: {tools: []}\ntasks: [{instruction: a}]\n"),
    ],
)
def test_one_file_may_hold_everything(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path / "one", {name: text})
    (path,) = find([tmp_path / "one" / name])
    document = read_only(path)
    assert document.problems == ()
    assert document.value == {"template": "custom", "config": {"tools": []}}
    assert tasks_of(document) == [{"instruction": "a"}]
    assert document.slug == ("mine" if name == "mine.yaml" else "one")


def test_slug_and_name_come_from_the_folder_unless_they_are_given(tmp_path: Path) -> None:
    plain = read_only(write(tmp_path / "refund-agent_v2", {"environment.yaml": "template: custom"}))
    assert (plain.slug, plain.name) == ("refund-agent_v2", "Refund Agent V2")
    assert "slug" not in plain.value and "name" not in plain.value
    given_slug = read_only(write(tmp_path / "x", {"environment.yaml": "slug: my-env\nname: Mine"}))
    assert (given_slug.slug, given_slug.name) == ("my-env", "Mine")


def test_fixtures_may_be_files_of_any_format(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {
            "environment.yaml": "template: workflow",
            "config.yaml": CONFIG,
            "fixtures/a.yaml": "- {id: 1}\n",
            "fixtures/b.toml": '[O-1]\ncustomer = "Alice"\n',
            "fixtures/c.json": '[{"id": 1.5}]',
            "fixtures/d.jsonl": '{"id": 1}\n\n{"id": 2}\n',
            "fixtures/e.csv": '\ufeffid,note\r\nO-1,"a, ""b""\r\nc"\r\n',
            "fixtures/f.toml": '[[f]]\nid = "x"\n',
            "fixtures/.hidden.yaml": "[",
        },
    )
    document = read_only(folder)
    assert document.problems == ()
    assert document.value["config"]["fixtures"] == {
        "a": [{"id": 1}],
        "b": {"O-1": {"customer": "Alice"}},
        "c": [{"id": 1.5}],
        "d": [{"id": 1}, {"id": 2}],
        "e": [{"id": "O-1", "note": 'a, "b"\nc'}],
        "f": [{"id": "x"}],
    }
    label = folder.as_posix()
    assert str(document.span(("config", "fixtures", "d", 1, "id"))) == f"{label}/fixtures/d.jsonl:3:8"
    assert str(document.span(("config", "fixtures", "e", 0, "note"))) == f"{label}/fixtures/e.csv:2:5"
    assert str(document.span(("config", "fixtures", "e", 0, "note"), "key")) == f"{label}/fixtures/e.csv:1:4"


def test_files_keep_their_content_exactly_and_their_paths_sorted(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {
            "environment.yaml": "template: code-editing",
            "files/src/b.py": "x = 1\r\n\r\n",
            "files/a.txt": "\ufeffa",
            "files/src/é.txt": "",
            "files/.gitignore": "x",
            "files/.github/workflows/test.yml": "on: push",
            "files/__pycache__/b.pyc": b"\x00",
            "files/src/.DS_Store": b"\x00",
        },
    )
    document = read_only(folder)
    assert document.problems == ()
    assert list(document.value["config"]["files"].items()) == [
        (".github/workflows/test.yml", "on: push"),
        (".gitignore", "x"),
        ("a.txt", "\ufeffa"),
        ("src/b.py", "x = 1\r\n\r\n"),
        ("src/é.txt", ""),
    ]
    assert str(document.span(("config", "files", "src/b.py"))) == f"{folder.as_posix()}/files/src/b.py:1:1"
    assert all(source.path.parent == folder for source in document.sources)


def test_what_belongs_to_a_tool_is_no_content_and_is_told_of(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {
            "environment.yaml": "template: code-editing",
            "files/a.txt": "a",
            "files/.git/config": "x",
            "files/web/node_modules/m/index.js": "x",
            "hidden/.venv/bin/python": b"\x00",
            "hidden/b.txt": "b",
        },
    )
    document = read_only(folder)
    assert document.value["config"] == {"files": {"a.txt": "a"}, "hidden": {"b.txt": "b"}}
    assert slugs(document) == ["unread-file"] * 3
    (report,) = check_all([document])
    assert [found.message for found in report.diagnostics if found.slug == "unread-file"] == [
        f"The folder “{name}/” is not read." for name in (".git", "node_modules", ".venv")
    ]


def test_a_binary_file_is_a_problem_at_its_first_bad_byte(tmp_path: Path) -> None:
    files = {"environment.yaml": "template: code-editing", "files/a.bin": b"ab\n\x00", "files/b.txt": b"\xe9"}
    document = read_only(write(tmp_path / "e", files))
    assert not document.readable
    assert document.unread == {"config"}
    assert [(p.slug, p.span.line, p.span.column) for p in document.problems] == [
        ("binary-file", 2, 1),
        ("not-utf8", 1, 1),
    ]


def test_pages_are_listed_in_the_order_of_their_files(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {
            "environment.yaml": "template: browser",
            "config.yaml": "initialUrl: /",
            "pages/2.yaml": "url: /two\nelements: []",
            "pages/1.html": "<h1>One</h1>\n",
            "pages/index.html": "<h1>Start</h1>",
        },
    )
    document = read_only(folder)
    assert document.problems == ()
    assert document.value["config"]["pages"] == [
        {"url": "/1", "html": "<h1>One</h1>\n"},
        {"url": "/two", "elements": []},
        {"url": "/", "html": "<h1>Start</h1>"},
    ]
    assert str(document.span(("config", "pages", 1, "url"))) == f"{folder.as_posix()}/pages/2.yaml:1:6"


def test_tasks_may_be_spread_over_files_and_are_counted_through(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {
            "environment.yaml": "template: custom",
            "tasks/b.jsonl": '{"instruction": "3"}\n',
            "tasks/a.jsonl": '{"instruction": "1"}\n{"instruction": "2"}',
        },
    )
    document = read_only(folder)
    assert [task["instruction"] for task in tasks_of(document)] == ["1", "2", "3"]
    assert str(document.span(("tasks", 2, "instruction"))) == f"{folder.as_posix()}/tasks/b.jsonl:1:17"


@pytest.mark.parametrize("name", ["tasks.yaml", "tasks.json", "tasks.toml"])
def test_tasks_may_be_a_list_in_a_file(tmp_path: Path, name: str) -> None:
    text = {"tasks.toml": '[[tasks]]\ninstruction = "a"\n'}.get(name, '[{"instruction": "a"}]')
    document = read_only(write(tmp_path / "e", {"environment.yaml": "template: custom", name: text}))
    assert document.problems == ()
    assert "tasks" not in document.value
    assert tasks_of(document) == [{"instruction": "a"}]


def test_whatever_the_template_all_files_are_read_when_it_is_unknown(tmp_path: Path) -> None:
    files = {
        "environment.yaml": "template: workflw",
        "config.yaml": "tools: [",
        "fixtures/a.yaml": "[",
        "files/a.txt": b"\x00",
        "verifier.yaml": "a: 1\na: 2\n",
    }
    document = read_only(write(tmp_path / "e", files))
    assert set(slugs(document)) == {"yaml-syntax", "binary-file", "duplicate-key"}
    assert {"config"} <= document.unread


def test_the_first_of_two_places_counts_and_the_problem_names_both(tmp_path: Path) -> None:
    files = {
        "environment.yaml": "template: custom\nverifier: {primitives: []}\n",
        "verifier.yaml": "\nprimitives: [1]\n",
        "config.yaml": "tools: []",
        "config.toml": "tools = [1]",
        "tasks.jsonl": "{}",
        "tasks/a.jsonl": "{}",
    }
    document = read_only(write(tmp_path / "e", files))
    assert document.value["verifier"] == {"primitives": []}
    assert document.value["config"] == {"tools": []}
    assert document.readable
    names = [
        (p.facts["key"], Path(p.span.path).name, str(Path(str(p.facts["first"])).name))
        for p in document.problems
    ]
    assert names == [
        ("config", "config.toml", "config.yaml:1:1"),
        ("verifier", "verifier.yaml", "environment.yaml:2:1"),
        ("tasks", "a.jsonl", "tasks.jsonl:1:1"),
    ]


def test_fixtures_inline_and_in_a_folder_clash_by_name_and_are_read_all_the_same(tmp_path: Path) -> None:
    files = {
        "environment.yaml": "template: workflow\nconfig:\n  fixtures:\n    orders: [1]\n",
        "fixtures/orders.yaml": "[2]",
        "fixtures/people.yaml": "[3]",
    }
    document = read_only(write(tmp_path / "e", files))
    assert document.value["config"]["fixtures"] == {"orders": [1], "people": [3]}
    assert [p.facts["key"] for p in document.problems] == ["config.fixtures.orders"]
    assert document.problems[0].facts["first"].line == 4


@pytest.mark.parametrize(
    "link", ["config.yaml", "fixtures", "environment.yaml", "tasks", "fixtures/orders.yaml"]
)
def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path, link: str) -> None:
    outside = write(
        tmp_path / "outside", {"a.yaml": "secret: 1", "sub/orders.yaml": "[secret]", "sub/t.jsonl": "{}"}
    )
    files = {
        "environment.yaml": "template: workflow\nname: E\n",
        "config.yaml": CONFIG,
        "fixtures/x.yaml": "[]",
    }
    folder = write(tmp_path / "e", files)
    path = folder / link
    if path.is_file():
        path.unlink()
    elif path.is_dir():
        (path / "x.yaml").unlink()
        path.rmdir()
    path.symlink_to(outside / ("sub" if link in ("fixtures", "tasks") else "a.yaml"))
    document = read_only(folder)
    assert "path-leaves-folder" in slugs(document)
    assert not document.readable
    assert "secret" not in repr(document.value)
    assert tasks_of(document) == []


@pytest.mark.parametrize(
    ("link", "unread"),
    [
        ("config.yaml", "config"),
        ("fixtures", "config"),
        ("fixtures/orders.yaml", "config"),
        ("tasks.jsonl", "tasks"),
        ("tasks", "tasks"),
        ("tasks/a.jsonl", "tasks"),
        ("verifier.yaml", "verifier"),
    ],
)
def test_what_a_refused_link_would_have_given_is_not_missed_as_well(
    tmp_path: Path, link: str, unread: str
) -> None:
    outside = write(tmp_path / "outside", {"sub/x.yaml": "a: 1"})
    folder = write(tmp_path / "e", {"environment.yaml": "template: workflow\nslug: e\nname: E\n"})
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(outside / "sub")
    document = read_only(folder)
    assert slugs(document) == ["path-leaves-folder"]
    assert document.unread == {unread}


def test_links_inside_the_folder_are_followed_and_the_folder_itself_may_be_one(tmp_path: Path) -> None:
    files = {"environment.yaml": "template: workflow", "x-shared.yaml": CONFIG, "fixtures/a.yaml": "[1]"}
    folder = write(tmp_path / "real", files)
    (folder / "config.yaml").symlink_to("x-shared.yaml")
    (folder / "fixtures" / "b.yaml").symlink_to("a.yaml")
    (tmp_path / "linked").symlink_to(folder)
    document = read_only(tmp_path / "linked")
    assert document.problems == ()
    assert document.value["config"]["fixtures"] == {"a": [1], "b": [1]}


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {"environment.yaml": "template: code-editing", "files/a/x.txt": "x", "files/b/y.txt": "y"},
    )
    (folder / "files/a/b").symlink_to("../b")
    (folder / "files/b/a").symlink_to("../a")
    (folder / "files/self.txt").symlink_to("self.txt")
    document = read_only(folder)
    assert set(slugs(document)) == {"symlink-loop", "unreadable-file"}
    assert set(document.value["config"]["files"]) == {"a/x.txt", "b/y.txt", "a/b/y.txt", "b/a/x.txt"}


def test_a_huge_folder_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.source.listing.MAX_ENTRIES", 20)
    files: dict[str, str | bytes] = {f"files/{number}.txt": "" for number in range(40)}
    document = read_only(write(tmp_path / "e", {"environment.yaml": "template: code-editing", **files}))
    assert slugs(document) == ["huge-folder"]
    assert len(document.value["config"]["files"]) < 20


def test_names_that_differ_only_in_their_composition_are_one(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "e",
        {"environment.yaml": "template: workflow", "config.yaml": CONFIG, "fixtures/e\u0301.yaml": "[1]"},
    )
    assert list(read_only(folder).value["config"]["fixtures"]) == ["\u00e9"]
    write(folder, {"fixtures/\u00e9.yaml": "[2]"})
    assert "key-in-two-places" in slugs(read_only(folder))


def test_a_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    folder = write(tmp_path / "e", {"environment.yaml": "template: code-editing", "files/a.txt": ""})
    try:
        Path(os.fsdecode(os.fsencode(folder / "files") + b"/\xff.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system has only UTF-8 names")
    assert slugs(read_only(folder)) == ["unreadable-file"]


def test_a_folder_without_its_environment_file_still_shows_what_else_is_wrong(tmp_path: Path) -> None:
    document = read_only(write(tmp_path / "e", {"config.yaml": "a: [", "tasks.jsonl": "{}"}))
    assert slugs(document) == ["no-environment-file", "yaml-syntax"]
    assert not document.readable
    assert {"slug", "template", "config", "verifier"} <= document.unread
    assert "tasks" not in document.unread


@pytest.mark.parametrize("text", ["- a", "3", "null", "[]", '"x"'])
def test_an_environment_file_that_holds_no_object_is_a_problem(tmp_path: Path, text: str) -> None:
    document = read_only(write(tmp_path / "e", {"environment.yaml": text}))
    assert slugs(document) == ["environment-not-an-object"]
    assert not document.readable


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeff"])
def test_an_empty_environment_file_is_a_problem(tmp_path: Path, text: str) -> None:
    assert slugs(read_only(write(tmp_path / "e", {"environment.yaml": text}))) == ["empty-file"]


@pytest.mark.parametrize(
    ("path", "leaves"),
    [
        ("a.py", False),
        ("a/b..c/d", False),
        ("..a", False),
        ("", False),
        ("./a", False),
        ("/a", True),
        ("..", True),
        ("a/../../b", True),
        ("a/../b", False),
        ("a\\..\\b", False),
        ("a\\..\\..\\b", True),
        ("../here/a.py", True),
        ("\\\\server\\share", True),
        ("C:a", True),
        ("c:\\a", True),
    ],
)
def test_a_path_leaves_the_folder_when_it_is_absolute_or_climbs(path: str, leaves: bool) -> None:
    assert leaves_folder(path) is leaves


NAMES = [
    "environment.yaml",
    "environment.toml",
    "environment.json",
    "config.yaml",
    "config.toml",
    "config.json",
    "verifier.yaml",
    "tasks.jsonl",
    "tasks.yaml",
    "tasks/a.jsonl",
    "description.md",
    "schema.sql",
    "seed.sql",
    "fixtures.yaml",
    "fixtures/orders.csv",
    "fixtures/orders.yaml",
    "fixtures/x.jsonl",
    "files/a.py",
    "files/sub/b.txt",
    "pages/a.yaml",
    "pages/b.html",
    "verifer.yaml",
]
PIECES = [
    "template: workflow\n",
    "template: browser\n",
    'template = "code-editing"\n',
    "template: sql\n",
    "config: {tools: [], fixtures: {orders: []}}\n",
    "config: 3\n",
    "files: {../a: x}\n",
    "pages: []\n",
    "tasks: [1, {instruction: a}]\n",
    "- a\n",
    "[[config.tools]]\n",
    '{"template": "custom", "tasks": {}}',
    '{"instruction": "a"}\n',
    'id,note\n1,"x\n',
    "id,note\n1,2\n",
    "\ufeff",
    "null",
    "\x00",
]
CONTENT = st.lists(st.sampled_from(PIECES), max_size=4).map(
    lambda parts: "".join(parts).encode()
) | st.binary(max_size=40)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), CONTENT, max_size=7))
def test_whatever_the_files_hold_reading_them_never_raises(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "e"
        root.mkdir()
        write(root, dict(files))
        (document,) = read(root)
        problems: list[Problem] = []
        records = list(document.tasks.read(problems))
        for record in records:
            assert document.span(("tasks", record.index)).path.startswith(root.as_posix())
        for problem in (*document.problems, *problems):
            assert problem.span.path.startswith(root.as_posix())
            assert problem.span.line >= 1 and problem.span.column >= 1
        for route in [(), ("config",), ("config", "fixtures", "orders", 0), ("tasks",), ("verifier", "x")]:
            assert document.span(route).path.startswith(root.as_posix())
        if not document.readable:
            assert document.problems
