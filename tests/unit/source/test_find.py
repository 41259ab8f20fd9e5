"""Environments are found by name, by pattern, and in folders that hold them; nothing found is a sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rollout.check import check
from rollout.source import SourceError, find, read, read_one
from rollout.source.tasks import read_jsonl_tasks

TREE = {
    "environments/refund/environment.yaml": "template: workflow",
    "environments/refund/config.yaml": "tools: []",
    "environments/refund/fixtures/orders.yaml": "[]",
    "environments/refund/files/inner/environment.yaml": "template: custom",
    "environments/refund/files/test_it.py": "",
    "environments/deep/er/shop/environment.toml": 'template = "browser"',
    "environments/one.yaml": "slug: one\ntemplate: custom\ntasks: []\n",
    "environments/compose.yaml": "services:\n  tasks: 1\n",
    "environments/.hidden/environment.yaml": "template: sql",
    "environments/.venv/x/environment.yaml": "template: sql",
    "environments/node_modules/x/environment.yaml": "template: sql",
    "environments/half/tasks.jsonl": "",
    "environments/half/config.yaml": "",
    "environments/code.py": "from rollout import Environment\n",
    "environments/setup.py": "print('no environment')\n",
    "other/readme.md": "",
}


def test_python_files_beside_environments_are_told_of_and_not_read(tree: Path) -> None:
    left_out: list[Path] = []
    assert find(["environments"], passed_by=left_out.append) == find(["environments"])
    assert [path.as_posix() for path in left_out] == ["environments/code.py"]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths: str) -> list[str]:
    return [path.as_posix() for path in find(paths)]


ALL = ["environments/deep/er/shop", "environments/half", "environments/one.yaml", "environments/refund"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["environments/refund"], ["environments/refund"]),
        (["environments/refund/"], ["environments/refund"]),
        (["environments"], ALL),
        (["."], ALL),
        ([], ALL),
        (["environments", "environments/refund", "./environments/refund"], ALL),
        (["environments/refund/environment.yaml"], ["environments/refund"]),
        (
            ["environments/refund/config.yaml", "environments/refund/fixtures/orders.yaml"],
            ["environments/refund"],
        ),
        (["environments/refund/files/test_it.py"], ["environments/refund"]),
        (["environments/one.yaml"], ["environments/one.yaml"]),
        (["environments/compose.yaml"], ["environments/compose.yaml"]),
        (["environments/code.py"], ["environments/code.py"]),
        (["environments/re*"], ["environments/refund"]),
        (["environments/*"], ["environments/code.py", *ALL]),
        (["environments/**/*.toml"], ["environments/deep/er/shop"]),
        (["environments/*.yaml"], ["environments/one.yaml"]),
        (["environments/*.py"], ["environments/code.py"]),
        (["environments/deep"], ["environments/deep/er/shop"]),
    ],
)
def test_paths_lead_to_environments_sorted_and_each_once(
    tree: Path, paths: list[str], expected: list[str]
) -> None:
    assert found(*paths) == expected


def test_an_absolute_path_stays_absolute_and_is_shown_relative(tree: Path) -> None:
    (path,) = find([tree / "environments/refund/config.yaml"])
    assert path == tree / "environments/refund"
    assert read_one(path).label == "environments/refund"


def test_two_names_of_one_folder_are_one_environment(tree: Path) -> None:
    (tree / "again").symlink_to("environments/refund")
    assert len(find(["again", "environments/refund"])) == 1


PATTERNS = [
    "environments",
    "environments/**",
    "environments/**/*.*",
    "environments/*",
    "**/environment.*",
    "*",
    "**",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_folders_that_link_in_a_circle_end(tree: Path, pattern: str) -> None:
    before = found(pattern)
    for name in ("x", "y", "z"):
        (tree / "environments/deep" / name).symlink_to(".")
        (tree / "environments" / name).symlink_to(".")
    (tree / "environments/deep/up").symlink_to("../..")
    assert found(pattern) == before


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_link_is_not_followed_to_an_environment_elsewhere_and_is_told_of(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, pattern: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "environment.yaml").write_text("template: custom", encoding="utf-8")
    (elsewhere / "inner").mkdir()
    (elsewhere / "inner/environment.yaml").write_text("template: custom", encoding="utf-8")
    before = found(pattern)
    (tree / "environments/linked").symlink_to(elsewhere)
    (tree / "environments/again").symlink_to("refund")
    left_out: list[Path] = []
    assert [path.as_posix() for path in find([pattern], passed_by=left_out.append)] == before
    assert [path.as_posix() for path in left_out if path.is_dir()] == ["environments/linked"]
    assert found("environments/linked") == ["environments/linked"]
    assert found("environments/linked/*") == ["environments/linked", "environments/linked/inner"]


@pytest.mark.parametrize("name", ["x", "x.yaml", "x.py"])
def test_a_link_to_a_name_that_is_too_long_leads_nowhere(tree: Path, name: str) -> None:
    (tree / "environments" / name).symlink_to("a" * 300)
    assert found("environments") == ALL
    with pytest.raises(SourceError, match="is a link that leads nowhere"):
        find([f"environments/{name}"])
    with pytest.raises(SourceError, match="Nothing that matches the pattern"):
        find([f"environments/{name[:1]}{name[1:2]}*{name[2:]}"])


def test_named_pipes_are_not_waited_for(tree: Path) -> None:
    for name in ("pipe.yaml", "pipe.py", "refund/grade.py"):
        os.mkfifo(tree / "environments" / name)
    assert found("environments") == ALL
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        find(["environments/pipe.py"])
    with pytest.raises(OSError, match="it is a named pipe"):
        list(read_jsonl_tasks(tree / "environments/pipe.yaml"))


def test_inside_an_environment_the_current_folder_is_one(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "environments/refund")
    assert found(".") == ["."]
    assert found("config.yaml") == ["."]
    document = read_one(".")
    assert document.slug == "refund"
    assert document.span(("config", "tools")).path == "config.yaml"


WAY_OUT = (
    "An environment is a folder with an environment.yaml or environment.toml in it, or a Python file that makes an "
    "Environment. “rollout new workflow PATH” starts one."
)


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("enviroments", "There is no “enviroments”.", "Did you mean “environments”?"),
        ("environments/refnd", "There is no “environments/refnd”.", "Did you mean “environments/refund”?"),
        ("environmens/refund/x", "There is no “environmens/refund/x”.", "Did you mean “environments”?"),
        (
            "environments/zzz",
            "There is no “environments/zzz”.",
            "The environments in “environments”: “half”, “refund”.",
        ),
        ("zzz", "There is no “zzz”.", WAY_OUT),
        ("environments/x*y", "Nothing matches the pattern “environments/x*y”.", None),
        ("other/*", "Nothing that matches the pattern “other/*” is an environment.", None),
        ("other", "There is no environment in “other”.", None),
        ("other/readme.md", "“other/readme.md” is not an environment.", None),
        ("gone", "“gone” is a link that leads nowhere.", None),
        ("pipe", "“pipe” is neither a file nor a folder.", None),
        ("scripts", "There is no environment in “scripts”, only Python files.", None),
    ],
)
def test_nothing_found_is_a_sentence_with_a_way_out(
    tree: Path, path: str, message: str, hint: str | None
) -> None:
    (tree / "gone").symlink_to("nowhere")
    os.mkfifo(tree / "pipe")
    (tree / "scripts").mkdir()
    (tree / "scripts" / "a.py").write_text("x = 1")
    with pytest.raises(SourceError) as raised:
        find([path])
    assert str(raised.value) == message
    if hint is not None:
        assert raised.value.hint == hint


def test_a_folder_that_was_meant_to_be_an_environment_is_read_as_one(tree: Path) -> None:
    (tree / "near").mkdir()
    (tree / "near" / "enviroment.yaml").write_text("template: custom")
    assert found("near") == ["near"]
    assert [problem.slug for problem in read_one("near").problems] == ["no-environment-file"]


def test_a_slug_chooses_and_an_unknown_one_is_told_what_there_is(tree: Path) -> None:
    assert [document.slug for document in read("environments/one.yaml", slug="one")] == ["one"]
    with pytest.raises(SourceError) as raised:
        read("environments/one.yaml", slug="two")
    assert raised.value.hint == "The one there is called “one”."


def test_reading_what_is_not_there_is_a_sentence(tree: Path) -> None:
    with pytest.raises(SourceError, match="There is no “nowhere”"):
        read("nowhere")


@pytest.mark.parametrize("path", ["", "\0", "a\0b", "[", "**", "***", "x" * 5000, "~", "\udcff"])
def test_odd_paths_are_errors_in_words_or_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError) as raised:
        find([path])
    assert str(raised.value).endswith(".")


def refuse(folder: str, error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets nobody look into ``folder``, not even root."""
    listed = os.scandir

    def scandir(path: str | os.PathLike[str] = ".") -> object:
        if Path(path) == Path(folder):
            raise error
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "You may not look into the folder “environments/locked”."),
        (
            OSError(5, "Input/output error"),
            "The folder “environments/locked” cannot be read: Input/output error.",
        ),
        (
            OSError(116, "Stale file handle"),
            "The folder “environments/locked” cannot be read: Stale file handle.",
        ),
    ],
)
def test_a_folder_that_cannot_be_read_is_one_problem_and_the_rest_is_found(
    tree: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    before = find(["environments"])
    Path("environments/locked").mkdir()
    refuse("environments/locked", error, monkeypatch)
    found = find(["environments"])
    assert found == sorted([*before, Path("environments/locked")], key=lambda path: path.as_posix())
    (document,) = read("environments/locked")
    report = check(document)
    assert [each.message for each in report.diagnostics] == [message]
    assert not document.readable


def test_the_folder_that_was_named_has_to_be_readable(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("locked").mkdir()
    refuse("locked", PermissionError(13, "Permission denied"), monkeypatch)
    with pytest.raises(SourceError, match="The folder “locked” cannot be read: Permission denied"):
        find(["locked"])


def test_a_folder_that_is_gone_by_then_is_passed_by(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = find(["environments"])
    Path("environments/locked").mkdir()
    refuse("environments/locked", FileNotFoundError(2, "No such file or directory"), monkeypatch)
    assert find(["environments"]) == before
