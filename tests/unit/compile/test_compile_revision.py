"""Environments as they were at a git revision, read without touching the work tree and whatever the tree holds."""

from __future__ import annotations

import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest
from compile_git import Repository
from typer.testing import CliRunner

from rollout.cli import app
from rollout.compile.change import Effect
from rollout.compile.read_sides import overlooked_submodules, sides_since
from rollout.compile.review import Entry
from rollout.compile.revision import Revision, RevisionError
from rollout.compile.scaffold import scaffold
from rollout.compile.sides import compare_sides

CASES = Path(__file__).parents[2] / "cases"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    made = Repository(tmp_path / "repository")
    monkeypatch.chdir(made.root)
    return made


def environment(folder: str, template: str = "custom") -> dict[str, str]:
    slug = folder.rpartition("/")[2]
    files = scaffold(template, slug=slug, name=slug.title())
    return {f"{folder}/{name}": text for name, text in files.items()}


def review(name: str, *paths: str) -> list[Entry]:
    with tempfile.TemporaryDirectory() as scratch:
        before, after = sides_since(Revision(name), paths, Path(scratch))
        return compare_sides(before, after, lone_pair=False)


def told(entries: list[Entry]) -> dict[str, list[str]]:
    return {
        entry.label: [change.label for change in entry.difference.changes]
        if entry.difference and entry.difference.before and entry.difference.after
        else ["trouble" if entry.difference is None else "added" if entry.difference.after else "removed"]
        for entry in entries
    }


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_only_environments_in_which_something_changed_are_reviewed(repository: Repository) -> None:
    repository.commit({**environment("envs/a"), **environment("envs/b"), "README.md": "hello\n"})
    edit(repository.root / "envs/a/config.yaml", "maximum: 25", "maximum: 30")
    repository.write({"README.md": "changed\n"})
    assert told(review("HEAD")) == {"envs/a": ["set_target.degrees.maximum"]}


def test_nothing_changed_is_nothing_to_review(repository: Repository) -> None:
    repository.commit(environment("envs/a"))
    assert review("HEAD") == []
    assert told(review("HEAD", "envs")) == {"envs/a": []}


def test_environments_that_came_and_went_are_told(repository: Repository) -> None:
    repository.commit({**environment("envs/old"), **environment("envs/kept")})
    for path in (repository.root / "envs/old").iterdir():
        path.unlink()
    repository.write(environment("envs/new"))
    assert told(review("HEAD")) == {"envs/new": ["added"], "envs/old": ["removed"]}


def test_an_environment_that_moved_is_still_the_same(repository: Repository) -> None:
    repository.commit(environment("envs/a"))
    (repository.root / "other").mkdir()
    (repository.root / "envs/a").rename(repository.root / "other/place")
    edit(repository.root / "other/place/config.yaml", "maximum: 25", "maximum: 30")
    assert told(review("HEAD")) == {"other/place": ["set_target.degrees.maximum"]}


def test_an_environment_that_is_named_by_the_path_it_moved_to_is_still_the_same(
    repository: Repository,
) -> None:
    one_file = {
        "envs/lone.yaml": "slug: lone\nname: L\ntemplate: custom\nconfig: {tools: [{name: t, response: 1}]}\n"
    }
    repository.commit({**environment("envs/a"), **environment("envs/other"), **one_file})
    (repository.root / "envs/a").rename(repository.root / "envs/b")
    edit(repository.root / "envs/b/config.yaml", "maximum: 25", "maximum: 30")
    (repository.root / "envs/lone.yaml").rename(repository.root / "envs/alone.yaml")
    edit(repository.root / "envs/alone.yaml", "name: L", "name: M")
    assert told(review("HEAD", "envs/b")) == {"envs/b": ["set_target.degrees.maximum"]}
    assert told(review("HEAD", "envs/alone.yaml")) == {"envs/alone.yaml": ["environment"]}


def test_a_copy_of_an_environment_that_stayed_is_new_and_is_told_of_its_slug(repository: Repository) -> None:
    repository.commit(environment("envs/a"))
    shutil.copytree(repository.root / "envs/a", repository.root / "envs/b")
    assert told(review("HEAD", "envs/b")) == {"envs/b": ["added"]}
    notes = {entry.label: entry.difference.notes for entry in review("HEAD", "envs") if entry.difference}
    assert notes["envs/b"] == ("“envs/a” has the slug “a” too: each needs one of its own.",)


def test_submodules_are_named_where_something_may_have_changed_in_them(
    repository: Repository, tmp_path: Path
) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit(environment("a"))
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    repository.commit(environment("envs/a"))
    revision = Revision("HEAD")
    assert revision.submodules() == ["sub"]
    assert overlooked_submodules(revision, []) == []
    edit(repository.root / "sub/a/config.yaml", "maximum: 25", "maximum: 30")
    revision = Revision("HEAD")
    assert overlooked_submodules(revision, []) == ["sub"]
    assert overlooked_submodules(revision, ["envs"]) == []
    assert overlooked_submodules(revision, ["sub/a"]) == ["sub"]
    for form in ("text", "markdown", "json"):
        shown = CliRunner().invoke(app, ["diff", "--git", "HEAD", "--format", form])
        assert shown.exit_code == 0 and "“sub” is a submodule" in shown.stdout
    (entry,) = review("HEAD", "sub/a")
    assert entry.trouble is not None and "lies in the submodule “sub”" in entry.trouble


def test_errors_of_the_old_side_are_known(repository: Repository, tmp_path: Path) -> None:
    repository.commit(environment("envs/a"))
    repository.commit({"envs/a/x.yaml": "", "envs/a/tasks.jsonl": '{"instruction": "i", "split": "moon"}\n'})
    repository.write(environment("envs/a"))
    (tmp_path / "scratch").mkdir()
    (before,), (after,) = sides_since(Revision("HEAD"), ["envs/a"], tmp_path / "scratch")
    assert before.has_errors and not after.has_errors


def test_reformatting_and_moving_keys_between_files_is_no_difference(repository: Repository) -> None:
    repository.commit(environment("envs/a"))
    for path in (repository.root / "envs/a").iterdir():
        path.unlink()
    text = scaffold("custom", slug="a", name="A", toml=True, one_file=True)["environment.toml"]
    repository.write({"envs/a/environment.toml": text})
    (entry,) = review("HEAD")
    assert entry.difference is not None and entry.difference.is_empty and not entry.difference.notes


def test_an_older_revision_a_branch_and_a_tag_can_be_named(repository: Repository) -> None:
    first = repository.commit(environment("envs/a"))
    repository.git("tag", "v1")
    edit(repository.root / "envs/a/config.yaml", "maximum: 25", "maximum: 30")
    repository.commit()
    for name in (first, first[:8], "v1", "HEAD~1", "main^", "v1^{commit}"):
        assert told(review(name)) == {"envs/a": ["set_target.degrees.maximum"]}, name
    assert review("main") == []


def test_paths_are_relative_to_the_current_folder(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({**environment("envs/a"), **environment("envs/b")})
    edit(repository.root / "envs/a/config.yaml", "maximum: 25", "maximum: 30")
    monkeypatch.chdir(repository.root / "envs")
    assert told(review("HEAD", "a")) == {"envs/a": ["set_target.degrees.maximum"]}
    assert told(review("HEAD")) == {"envs/a": ["set_target.degrees.maximum"]}
    assert told(review("HEAD", "a/config.yaml")) == {"envs/a": ["set_target.degrees.maximum"]}
    assert set(told(review("HEAD", "*"))) == {"envs/a", "envs/b"}


def test_an_environment_at_the_root_of_the_repository_keeps_its_slug(repository: Repository) -> None:
    files = scaffold("custom", slug="x", name="X")
    files["environment.yaml"] = files["environment.yaml"].replace("slug: x\n", "")
    repository.commit(files)
    edit(repository.root / "config.yaml", "maximum: 25", "maximum: 30")
    assert told(review("HEAD")) == {".": ["set_target.degrees.maximum"]}


def test_a_single_file_environment_is_compared_too(repository: Repository) -> None:
    text = scaffold("custom", slug="a", name="A", one_file=True)["environment.yaml"]
    repository.commit({"envs/a.yaml": text})
    edit(repository.root / "envs/a.yaml", "maximum: 25", "maximum: 30")
    assert told(review("HEAD")) == {"envs/a.yaml": ["set_target.degrees.maximum"]}


def test_a_python_file_is_run_with_the_neighbours_that_it_had(repository: Repository) -> None:
    code = (
        "from rollout import Environment, Task\n"
        "from shared import ANSWER\n"
        "tools = [{'name': 'ask', 'kind': 'mock', 'response': ANSWER}]\n"
        "env = Environment('a', 'A', 'workflow', [Task('Ask.', {'x': 1})], config={'tools': tools})\n"
    )
    repository.commit({"envs/env.py": code, "envs/shared.py": "ANSWER = 'old'\n"})
    repository.write({"envs/shared.py": "ANSWER = 'new'\n"})
    (entry,) = review("HEAD", "envs/env.py")
    assert entry.difference is not None
    (change,) = entry.difference.changes
    assert (change.before, change.after, change.effect) == ("old", "new", Effect.AGENT)


def test_an_environment_that_had_errors_cannot_be_told(repository: Repository) -> None:
    repository.commit({**environment("envs/a"), "envs/a/config.yaml": "tools: [\n"})
    repository.write(environment("envs/a"))
    (entry,) = review("HEAD")
    assert entry.trouble is not None and entry.trouble.startswith("At HEAD it had errors")
    assert not entry.is_comparable and entry.differs


def test_the_work_tree_and_the_index_are_not_touched(repository: Repository) -> None:
    repository.commit(environment("envs/a"))
    edit(repository.root / "envs/a/config.yaml", "maximum: 25", "maximum: 30")
    # A file whose time is newer than the index's is what tempts git to refresh it.
    os.utime(repository.root / "envs/a/tasks.jsonl")
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in repository.root.rglob("*")
        if path.is_file()
    }
    review("HEAD")
    after = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in repository.root.rglob("*")
        if path.is_file()
    }
    assert after == before


def test_a_hook_s_relative_paths_are_understood(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(environment("envs/a"))
    edit(repository.root / "envs/a/config.yaml", "maximum: 25", "maximum: 30")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    with tempfile.TemporaryDirectory() as scratch:
        revision = Revision("HEAD", folder=Path("envs"))
        before, after = sides_since(revision, ["envs/a"], Path(scratch))
    assert told(compare_sides(before, after)) == {"envs/a": ["set_target.degrees.maximum"]}


def test_settings_of_git_that_change_how_paths_are_shown_do_not_matter(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name.replace("envs/a", "envs/é"): text for name, text in environment("envs/a").items()}
    repository.commit(files)
    for name, value in {"diff.relative": "true", "core.quotePath": "true", "diff.external": "false"}.items():
        repository.git("config", name, value)
    edit(repository.root / "envs/é/config.yaml", "maximum: 25", "maximum: 30")
    monkeypatch.chdir(repository.root / "envs")
    assert told(review("HEAD")) == {"envs/é": ["set_target.degrees.maximum"]}


def test_a_compiled_file_is_compared_too(repository: Repository) -> None:
    compiled = (CASES / "compile" / "readme-builders" / "compiled.json").read_text(encoding="utf-8")
    repository.commit({"refund.json": compiled})
    repository.write({"refund.json": compiled.replace('"weight":2', '"weight":3')})
    assert told(review("HEAD", "refund.json")) == {"refund.json": ["refunds_count"]}


@pytest.mark.parametrize(
    "name", ["-x", "--output=x", "", "no-such", "HEAD~99", "main\n", "a\0b", ":/nothing"]
)
def test_what_is_no_revision_is_a_sentence(repository: Repository, name: str) -> None:
    repository.commit({"README.md": "x"})
    with pytest.raises(RevisionError, match="revision"):
        Revision(name)
    assert not (repository.root / "x").exists()


def test_a_near_miss_of_a_branch_is_named(repository: Repository) -> None:
    repository.commit({"README.md": "x"})
    with pytest.raises(RevisionError) as raised:
        Revision("mian")
    assert raised.value.hint == "Did you mean “main”?"


def test_a_tree_or_a_blob_is_no_revision(repository: Repository) -> None:
    repository.commit({"README.md": "x"})
    with pytest.raises(RevisionError, match="no revision"):
        Revision("HEAD:README.md")


def test_outside_a_repository_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(RevisionError, match="This folder is in no git repository"):
        Revision("HEAD")
    with pytest.raises(RevisionError, match=r"“[^”]*elsewhere” is in no git repository"):
        (tmp_path / "elsewhere").mkdir()
        Revision("HEAD", folder=tmp_path / "elsewhere")


def test_a_repository_without_a_commit_is_a_sentence(repository: Repository) -> None:
    with pytest.raises(RevisionError, match="no revision “HEAD”") as refused:
        Revision("HEAD")
    assert refused.value.hint == "Nothing has been committed yet, so there is nothing to compare with."


def test_without_git_there_is_a_sentence(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RevisionError, match="Git is not installed"):
        Revision("HEAD")


def test_a_path_outside_the_repository_is_a_sentence(repository: Repository, tmp_path: Path) -> None:
    repository.commit(environment("envs/a"))
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(RevisionError, match="outside the repository"):
        review("HEAD", str(tmp_path / "elsewhere"))


def test_a_path_that_is_in_neither_is_a_sentence(repository: Repository) -> None:
    repository.commit(environment("envs/a"))
    with pytest.raises(RevisionError, match="neither now nor at HEAD"):
        review("HEAD", "envs/none")


def extracted(repository: Repository, commit: str, target: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    target.mkdir()
    revision = Revision(commit)
    absent = revision.extract(revision.files, target).absent
    found = {
        path.relative_to(target).as_posix(): path.read_bytes()
        for path in target.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    return found, absent


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_hostile_names_leave_the_folder_alone(repository: Repository, tmp_path: Path, name: str) -> None:
    commit = repository.commit_tree([("100644", f"envs/{name}/evil", b"x"), ("100644", "ok", b"y")])
    found, absent = extracted(repository, commit, tmp_path / "target")
    assert found == {"ok": b"y"}
    assert list(absent) == [f"envs/{name}/evil"]
    assert not (tmp_path / "target" / "evil").exists() and not (tmp_path / "evil").exists()


def test_links_are_made_only_where_they_lead_inside(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    commit = repository.commit_tree(
        [
            ("120000", "envs/a/inside", b"../b/file"),
            ("120000", "envs/a/out", b"../../../secret"),
            ("120000", "envs/a/absolute", str(tmp_path / "secret").encode()),
            ("120000", "envs/a/self", b"self"),
            ("120000", "envs/hop", b"."),
            ("120000", "envs/a/by-hop", b"../hop/../../../secret"),
            ("100644", "envs/b/file", b"hello"),
        ]
    )
    _, absent = extracted(repository, commit, tmp_path / "target")
    inside = tmp_path / "target/envs/a/inside"
    assert inside.is_symlink() and inside.read_bytes() == b"hello"
    assert {"envs/a/out", "envs/a/absolute"} <= set(absent)
    for path in (tmp_path / "target").rglob("*"):
        assert "secret" not in os.path.realpath(path)


def test_a_file_below_a_link_is_not_written_through_it(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    # mktree refuses the same name twice, so the link stands in a tree of its own, read first.
    link = repository.commit_tree([("120000", "a", str(tmp_path / "outside").encode())])
    file = repository.commit_tree([("100644", "a/evil", b"x")])
    target = tmp_path / "target"
    target.mkdir()
    one, two = Revision(link), Revision(file)
    two.extract([*one.files, *two.files], target)
    assert list((tmp_path / "outside").iterdir()) == []
    assert (target / "a/evil").read_bytes() == b"x"


def test_submodules_are_left_out(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit_tree([("160000", "module", b""), ("100644", "file", b"x")])
    found, absent = extracted(repository, commit, tmp_path / "target")
    assert found == {"file": b"x"} and absent == {}


def test_odd_names_come_out_as_they_are(repository: Repository, tmp_path: Path) -> None:
    names = ["with space", "tab\there", "line\nbreak", "-dash", "quote\"s'", "é", "🙂", "*", "[a]", ":(top)x"]
    commit = repository.commit_tree([("100644", f"envs/{name}", name.encode()) for name in names])
    found, absent = extracted(repository, commit, tmp_path / "target")
    assert found == {f"envs/{name}": name.encode() for name in names}
    assert absent == {}


def pointer(content: bytes) -> bytes:
    oid = sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n".encode()


def test_an_lfs_pointer_is_followed_where_its_content_is_here(repository: Repository, tmp_path: Path) -> None:
    content = b'{"instruction": "x"}\n'
    oid = sha256(content).hexdigest()
    store = repository.root / ".git/lfs/objects" / oid[:2] / oid[2:4]
    store.mkdir(parents=True)
    (store / oid).write_bytes(content)
    commit = repository.commit_tree([("100644", "tasks.jsonl", pointer(content))])
    found, absent = extracted(repository, commit, tmp_path / "target")
    assert found == {"tasks.jsonl": content} and absent == {}
    (store / oid).write_bytes(b"tampered")
    found, absent = extracted(repository, commit, tmp_path / "again")
    assert found == {} and list(absent) == ["tasks.jsonl"]


def test_an_environment_whose_content_is_in_lfs_elsewhere_cannot_be_told(repository: Repository) -> None:
    files = environment("envs/a")
    repository.commit({**files, "envs/a/tasks.jsonl": pointer(b"not here").decode()})
    repository.write(files)
    (entry,) = review("HEAD")
    assert entry.trouble is not None and "Git LFS" in entry.trouble and "git lfs fetch" in entry.trouble


def test_a_revision_with_hostile_environment_files_is_only_trouble(repository: Repository) -> None:
    good = environment("envs/a")
    commit = repository.commit_tree(
        [
            ("100644", "envs/a/environment.yaml", good["envs/a/environment.yaml"].encode()),
            ("120000", "envs/a/config.yaml", b"/etc/passwd"),
            ("100644", "envs/a/tasks.jsonl", good["envs/a/tasks.jsonl"].encode()),
        ]
    )
    repository.write(good)
    (entry,) = review(commit)
    assert entry.trouble is not None and "leads out of the repository" in entry.trouble


ONE_FILE = """\
slug: prices
template: workflow
config:
  tools: [{name: ask, kind: mock, response: 1}]
tasks: [{instruction: Ask., hidden_ground_truth: {x: 1}}]
verifier:
  primitives: [{name: right, type: python, function: "grade.py:grade"}]
"""
GRADE = "def grade(case):\n    return {}\n"


def both_ways(path: str) -> dict[str, list[str]]:
    """What is told with the path and without, which is the same."""
    named = told(review("HEAD", path))
    assert told(review("HEAD")) == named
    return named


@pytest.mark.parametrize("moved", [False, True])
def test_code_beside_a_single_file_is_compared(repository: Repository, moved: bool) -> None:
    repository.commit({"envs/prices.yaml": ONE_FILE, "envs/grade.py": GRADE.format("False"), "x.txt": ""})
    assert told(review("HEAD", "envs/prices.yaml")) == {"envs/prices.yaml": []}
    repository.write({"x.txt": "changed\n", "envs/README.md": "new\n", "envs/other/environment.yaml": "{}"})
    assert told(review("HEAD", "envs/prices.yaml")) == {"envs/prices.yaml": []}
    (repository.root / "envs/other/environment.yaml").unlink()
    assert review("HEAD") == []
    repository.write({"envs/limits.json": "{}\n"})
    assert both_ways("envs/prices.yaml") == {"envs/prices.yaml": ["limits.json"]}
    (repository.root / "envs/limits.json").unlink()
    repository.write({"envs/grade.py": GRADE.format("True")})
    place = "envs/prices.yaml"
    if moved:
        (repository.root / place).rename(repository.root / "envs/costs.yaml")
        place = "envs/costs.yaml"
    assert both_ways(place) == {place: ["grade.py"]}


def test_code_of_a_folder_is_compared(repository: Repository) -> None:
    files = {"envs/prices/environment.yaml": ONE_FILE, "envs/prices/lib/grade.py": GRADE.format("False")}
    files["envs/prices/environment.yaml"] = ONE_FILE.replace("grade.py:", "lib/grade.py:")
    repository.commit(files)
    repository.write({"envs/prices/lib/grade.py": GRADE.format("True")})
    assert both_ways("envs/prices") == {"envs/prices": ["lib/grade.py"]}


CODE_EDITING = environment("envs/ce", "code-editing")


@pytest.mark.parametrize("settings", ["* text eol=crlf", "* text=auto", "*.py ident", "* -text"])
def test_line_ends_that_git_makes_are_no_difference(repository: Repository, settings: str) -> None:
    repository.commit({**CODE_EDITING, ".gitattributes": settings + "\n"})
    repository.git("config", "core.autocrlf", "true")
    for name in CODE_EDITING:
        (repository.root / name).unlink()
    repository.git("checkout", "-q", ".")
    assert told(review("HEAD", "envs/ce")) == {"envs/ce": []}
    assert review("HEAD") == []
    path = next(path for path in (repository.root / "envs/ce/files").rglob("*.py"))
    path.write_bytes(path.read_bytes() + b"# more" + (b"\r\n" if b"\r\n" in path.read_bytes() else b"\n"))
    [entry] = review("HEAD")
    assert entry.difference is not None
    [change] = entry.difference.changes
    assert change.after.startswith(change.before) and "# more" in change.after


def test_attributes_without_a_new_checkout_are_no_difference(repository: Repository) -> None:
    repository.commit(CODE_EDITING)
    repository.write({".gitattributes": "* text eol=crlf\n"})
    assert told(review("HEAD", "envs/ce")) == {"envs/ce": []}


def test_a_file_that_git_ignores_is_part_of_its_environment(repository: Repository) -> None:
    files = environment("envs/a")
    verifier = files.pop("envs/a/verifier.yaml")
    repository.commit({**files, ".gitignore": "verifier.yaml\n*.log\nscratch/\n"})
    repository.write({"envs/a/run.log": "", "scratch/environment.yaml": "template: custom\n"})
    assert review("HEAD") == []
    repository.write({"envs/a/verifier.yaml": verifier})
    assert both_ways("envs") == {"envs/a": ["verifier"]}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_not_to_look_at_is_looked_at(repository: Repository, flag: str) -> None:
    repository.commit(environment("envs/a"))
    repository.git("update-index", flag, "envs/a/config.yaml")
    assert review("HEAD") == []
    edit(repository.root / "envs/a/config.yaml", "maximum: 25", "maximum: 30")
    assert both_ways("envs") == {"envs/a": ["set_target.degrees.maximum"]}


def test_what_a_sparse_checkout_leaves_out_is_not_gone(repository: Repository) -> None:
    repository.commit({**environment("envs/a"), **environment("envs/b")})
    repository.git("sparse-checkout", "set", "envs/a")
    assert not (repository.root / "envs/b").exists()
    assert review("HEAD") == []
    assert told(review("HEAD", "envs")) == {"envs/a": []}
