"""`rollout compile`, `unpack`, `diff` and `new`, as somebody at a terminal meets them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compile_git import Repository
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner, Result

from rollout.check.report import environment_in
from rollout.cli import app
from rollout.compile.payload import compile_environment
from rollout.source import read_one
from rollout.source.contract import templates

CASES = Path(__file__).parents[2] / "cases"
README = CASES / "compile" / "readme-builders" / "env.py"
COMPILED = README.parent / "compiled.json"


def rollout(*arguments: str | Path, data: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(
        app, [str(argument) for argument in arguments], input=data, prog_name="rollout"
    )
    # Whatever a user does, it ends in an exit code and a sentence.
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def data_of(result: Result) -> Any:
    envelope = json.loads(result.stdout)
    assert set(envelope) == {"schema_version", "command", "data"} and envelope["schema_version"] == 1
    return envelope["data"]


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# compile


def test_compile_writes_the_bytes_to_stdout_and_nothing_else() -> None:
    result = rollout("compile", README)
    assert result.exit_code == 0
    assert result.stdout_bytes == COMPILED.read_bytes()
    assert result.stderr == ""


def test_compile_writes_a_file(here: Path) -> None:
    result = rollout("compile", README, "-o", "out.json")
    assert result.exit_code == 0 and result.stdout == ""
    assert (here / "out.json").read_bytes() == COMPILED.read_bytes()
    assert "1 task, sha256:" in result.stderr


def test_compile_prints_only_the_digest() -> None:
    result = rollout("compile", README, "--digest")
    assert result.stdout == "sha256:ca9a4916b2eb8146df2d493821214a0db5226bd337b2a3c193592c91919e0b53\n"


def test_compile_describes_what_it_did_as_json(here: Path) -> None:
    data = data_of(rollout("compile", README, "-o", "out.json", "--json"))
    assert data["counts"] == {"tasks": 1, "tools": 2, "fixtures": 1, "primitives": 3}
    assert data["splits"] == {"dev": 1}
    assert data["bytes"] == (here / "out.json").stat().st_size
    assert (data["slug"], data["output"]) == ("refund-agent", "out.json")


def test_compile_of_an_environment_with_errors_writes_nothing(here: Path) -> None:
    (here / "env.yaml").write_text("template: workflow\nconfig: {tools: [{name: x, kind: mok}]}\ntasks: []\n")
    result = rollout("compile", "env.yaml", "-o", "out.json")
    assert result.exit_code == 1
    assert "env.yaml:2:" in result.stderr and result.stdout == ""
    assert not (here / "out.json").exists()


def test_compile_of_what_cannot_be_read_exits_with_2(here: Path) -> None:
    (here / "env.yaml").write_text("template: [\n")
    assert rollout("compile", "env.yaml").exit_code == 2
    assert rollout("compile", "missing").exit_code == 2


def test_compile_asks_for_a_slug_where_there_are_several(here: Path) -> None:
    code = README.read_text(encoding="utf-8")
    other = code.replace('"refund-agent"', '"other"').replace("env", "other_env")
    (here / "envs.py").write_text(f"{code}\n{other}", encoding="utf-8")
    result = rollout("compile", "envs.py")
    assert result.exit_code == 2 and "--slug" in result.stderr
    assert rollout("compile", "envs.py", "--slug", "refund-agent").stdout_bytes == COMPILED.read_bytes()


def test_compile_does_not_replace_a_folder(here: Path) -> None:
    (here / "out").mkdir()
    result = rollout("compile", README, "-o", "out")
    assert result.exit_code == 2 and "“out” is a folder." in result.stderr


def test_code_that_is_a_pipe_is_not_waited_for(here: Path) -> None:
    shutil.copytree(CASES / "diff" / "judging-code" / "before", here / "desk")
    (here / "desk" / "grade.py").unlink()
    os.mkfifo(here / "desk" / "grade.py")
    result = rollout("compile", "desk")
    assert result.exit_code == 1
    assert "“grade.py” cannot be read as Python: it is a named pipe." in result.stderr


# unpack


def test_unpack_writes_a_folder_that_compiles_to_the_same_bytes(here: Path) -> None:
    result = rollout("unpack", COMPILED, "-o", "env")
    assert result.exit_code == 0, result.stderr
    assert rollout("compile", "env").stdout_bytes == COMPILED.read_bytes()
    assert rollout("validate", "env").exit_code == 0


@pytest.mark.parametrize("options", [(), ("--toml",)], ids=["yaml", "toml"])
def test_unpack_writes_what_people_review(
    here: Path, options: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    rollout("unpack", COMPILED, "-o", "env", *options)
    assert contents(here / "env") == snapshot


def test_unpack_reads_stdin_as_a_pipe_gives_it(here: Path) -> None:
    command = [sys.executable, "-m", "rollout.cli", "unpack", "-", "-o", "env"]
    starter = [sys.executable, "-c", "from rollout.cli import main; main()", *command[3:]]
    done = subprocess.run(starter, input=COMPILED.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert compile_environment_at(here / "env") == COMPILED.read_bytes()


def compile_environment_at(folder: Path) -> bytes:
    return compile_environment(environment_in(read_one(folder))).data


def test_unpack_reads_no_more_of_stdin_than_of_a_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.compile.wire.MAX_BYTES", 3 << 20)
    blanks = CliRunner().invoke(app, ["unpack", "-", "-o", "desk"], input=b" " * (5 << 20))
    assert blanks.exit_code == 2 and "has more than 3 MB" in blanks.stderr
    zeros = CliRunner().invoke(app, ["unpack", "-", "-o", "desk"], input=b"\0" * (5 << 20))
    assert zeros.exit_code == 2 and "binary-file" in zeros.stderr
    assert not (here / "desk").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("unpack", "desk.json", "-o", ""),
        ("unpack", "desk.json", "-o", " " * 5_000),
        ("unpack", "", "-o", "desk"),
        ("diff", "", "desk.json"),
        ("compile", "desk", "-o", " "),
        ("test", "", "-m", "noop"),
        ("test", "desk", "-m", "noop", "--out", ""),
        ("test", "-m", "noop", "--resume", " "),
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_a_path_of_nothing_is_no_folder(here: Path, arguments: tuple[str, ...]) -> None:
    result = rollout(*arguments)
    assert result.exit_code == 2 and result.stderr.startswith("error: A path is empty."), result.output
    assert not any(here.iterdir())


def test_unpack_takes_what_the_platform_answers(here: Path, snapshot: SnapshotAssertion) -> None:
    result = rollout("unpack", CASES / "unpack" / "platform-answer.json", "-o", "env", "--json")
    assert result.exit_code == 0, result.stderr
    assert data_of(result)["left_out"] == ["id", "taskCount", "createdAt", "tasks[].id"]
    assert contents(here / "env") == snapshot


def test_unpack_takes_a_bare_environment(here: Path) -> None:
    wrapped = json.loads(COMPILED.read_bytes())
    bare = {**wrapped["environment"], "verifier": wrapped["verifier"]}
    result = rollout("unpack", "-", "-o", "env", data=json.dumps(bare, indent=4))
    assert result.exit_code == 0, result.stderr
    assert compile_environment_at(here / "env") == COMPILED.read_bytes()


def test_unpack_does_not_write_into_a_folder_that_holds_something(here: Path) -> None:
    (here / "env").mkdir()
    (here / "env" / "notes.md").write_text("mine")
    result = rollout("unpack", COMPILED, "-o", "env")
    assert result.exit_code == 2
    assert "“env” is not empty: it holds “notes.md”." in result.stderr
    assert contents(here / "env") == {"notes.md": "mine"}


def test_unpack_with_force_replaces_the_environment_and_nothing_else(here: Path) -> None:
    rollout("new", "browser", "env")
    (here / "env" / "README.md").write_text("mine")
    assert rollout("unpack", COMPILED, "-o", "env", "--force").exit_code == 0
    assert rollout("compile", "env").stdout_bytes == COMPILED.read_bytes()
    assert (here / "env" / "README.md").read_text() == "mine"
    assert not (here / "env" / "pages").exists()


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        (b"", "<stdin>:1:1", ""),
        (b'{"environment": \n  }', "<stdin>:2:3", ""),
        (b"[1]", "<stdin>:1:1", ""),
        (b'{"slug": "a", "slug": "b"}', "<stdin>:1:15", "slug"),
        (b'{"slug": NaN}', "<stdin>:1:10", "NaN"),
        (b'{"slug": "\\ud800"}', "<stdin>:1:1", "surrogate"),
        (b"\xff\xfe{", "<stdin>:1:1", "UTF-16"),
        (b'{"a": "\xff"}', "<stdin>:1:8", "UTF-8"),
        (b'{"slug": "a", "name": "A", "template": "workflo", "tasks": []}', "<stdin>:1:40", "workflow"),
        (b'{"slug": "a", "name": "A", "template": "sql", "schema": 1, "tasks": []}', "<stdin>:1:57", ""),
        (b'{"template": "sql", "schema": "CREATE TABLE t (a);"}', "<stdin>:1:1", "“slug”"),
    ],
    ids=[
        "empty",
        "syntax",
        "list",
        "twice",
        "NaN",
        "surrogate",
        "UTF-16",
        "bytes",
        "template",
        "type",
        "missing",
    ],
)
def test_unpack_of_a_bad_file_says_where_and_writes_nothing(
    here: Path, data: bytes, place: str, words: str
) -> None:
    result = rollout("unpack", "-", "-o", "env", data=data)
    assert result.exit_code == 2
    assert place in result.stderr and words in result.stderr
    assert not (here / "env").exists()


def test_unpack_writes_an_environment_with_broken_references_and_says_so(here: Path) -> None:
    wrapped = json.loads(COMPILED.read_bytes())
    wrapped["verifier"]["primitives"][0]["tool"] = "get_ordr"
    result = rollout("unpack", "-", "-o", "env", data=json.dumps(wrapped))
    assert result.exit_code == 1
    assert "rollout validate env" in result.stderr
    assert (here / "env" / "verifier.yaml").exists()


def test_unpack_never_writes_outside_its_folder(here: Path) -> None:
    files = {"../../evil.py": "x", "/tmp/evil-of-rollout.py": "x", "ok.py": "x"}
    payload = {
        "slug": "a",
        "name": "A",
        "template": "code-editing",
        "config": {"files": files},
        "tasks": [{"instruction": "x", "hiddenGroundTruth": {"files": {"ok.py": "y"}}, "split": "dev"}],
    }
    result = rollout("unpack", "-", "-o", "in/env", data=json.dumps(payload))
    assert result.exit_code == 1
    assert sorted(path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file()) == [
        "in/env/config.yaml",
        "in/env/environment.yaml",
        "in/env/tasks.jsonl",
    ]
    assert not Path("/tmp/evil-of-rollout.py").exists()


@pytest.mark.parametrize("source", ["missing.json", "."])
def test_unpack_of_what_is_no_file_is_a_sentence(here: Path, source: str) -> None:
    result = rollout("unpack", source, "-o", "env")
    assert result.exit_code == 2 and "error: " in result.stderr and "help: " in result.stderr


@pytest.mark.parametrize("command", ["validate", "compile"])
def test_a_slug_that_may_be_in_what_cannot_be_read_is_not_said_to_be_missing(
    here: Path, command: str
) -> None:
    (here / "bad.py").write_text("raise ValueError('no luck')\n", encoding="utf-8")
    (here / "desk").mkdir()
    (here / "desk" / "environment.yaml").write_bytes(b"slug: two\xff\n")
    for path, told in (("bad.py", "no luck"), ("desk", "UTF-8")):
        result = rollout(command, path, "--slug", "two")
        assert result.exit_code == 2
        assert told in result.output and "There is no environment" not in result.output
    rollout("new", "custom", "sound")
    assert "There are sound." in rollout(command, "sound", "--slug", "two").stderr


# diff


def test_diff_of_two_folders_in_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES / "diff" / "workflow")
    text, markdown = (
        rollout("diff", "before", "after"),
        rollout("diff", "before", "after", "--format", "markdown"),
    )
    assert text.stdout == Path("expected.txt").read_text(encoding="utf-8")
    assert markdown.stdout == Path("expected.md").read_text(encoding="utf-8")
    expected = json.loads(Path("expected.json").read_text(encoding="utf-8"))
    assert data_of(rollout("diff", "before", "after", "--json")) == expected
    assert data_of(rollout("diff", "before", "after", "--format", "json")) == expected


def test_diff_exits_with_1_only_when_asked_to_and_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES / "diff")
    assert rollout("diff", "workflow/before", "workflow/after").exit_code == 0
    assert rollout("diff", "workflow/before", "workflow/after", "--exit-code").exit_code == 1
    assert rollout("diff", "reformatted/before", "reformatted/after", "--exit-code").exit_code == 0
    assert rollout("diff", "reordered/before", "reordered/after", "--exit-code").exit_code == 0


def test_diff_compares_a_folder_with_a_compiled_file_without_what_never_travels(here: Path) -> None:
    rollout("new", "workflow", "env")
    rollout("compile", "env", "-o", "env.json")
    result = rollout("diff", "env.json", "env", "--exit-code")
    assert result.exit_code == 0 and "No difference" in result.stdout


def test_diff_of_folders_of_environments_pairs_them(here: Path) -> None:
    for side in ("old", "new"):
        rollout("new", "workflow", f"{side}/desk")
        rollout("new", "sql", f"{side}/ferries")
    config = here / "new/desk/config.yaml"
    config.write_text(config.read_text().replace("lend only what is free", "be kind"))
    entries = data_of(rollout("diff", "old", "new", "--json"))["environments"]
    assert [(entry["label"], len(entry["changes"])) for entry in entries] == [
        ("new/desk", 1),
        ("new/ferries", 0),
    ]


def test_diff_of_an_environment_with_broken_references_still_tells_what_changed(here: Path) -> None:
    rollout("new", "workflow", "a")
    rollout("new", "workflow", "b")
    verifier = here / "b/verifier.yaml"
    verifier.write_text(verifier.read_text().replace("tool: get_device", "tool: get_devise"))
    result = rollout("diff", "a", "b")
    assert result.exit_code == 1
    assert '"get_device" → "get_devise"' in result.stdout
    sentence = "“b” has an error: “rollout validate b” tells it."
    for form in ("text", "markdown", "json"):
        assert sentence in rollout("diff", "a", "b", "--format", form).stdout
    again = rollout("diff", "b", "b", "--format", "markdown")
    assert again.exit_code == 1 and sentence in again.stdout and "**No difference: old" in again.stdout


def test_diff_of_an_environment_that_cannot_be_read_says_so(here: Path) -> None:
    rollout("new", "workflow", "a")
    rollout("new", "workflow", "b")
    (here / "b/config.yaml").write_text("tools: [")
    result = rollout("diff", "a", "b")
    assert result.exit_code == 2
    assert "“rollout validate b” tells it" in result.stdout and result.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("one",),
        ("one", "two", "three"),
        ("missing", "missing"),
        ("--format", "html", "a", "b"),
        ("--git", "-x"),
        ("--git", "HEAD"),
    ],
    ids=" ".join,
)
def test_diff_of_what_makes_no_sense_is_a_sentence(
    here: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(here.parent))
    result = rollout("diff", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and "help: " in result.stderr
    assert result.stdout == ""


def test_diff_with_a_revision(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    repository = Repository(here)
    rollout("new", "workflow", "envs/desk")
    repository.commit()
    unchanged = rollout("diff", "--git", "HEAD", "--exit-code")
    assert (unchanged.exit_code, unchanged.stdout) == (0, "No environment changed.\n")
    assert rollout("diff", "--git", "HEAD", "--format", "markdown").stdout.startswith("**No difference.**")
    config = here / "envs/desk/config.yaml"
    config.write_text(config.read_text().replace("lend only what is free", "be kind"))
    result = rollout("diff", "--git", "HEAD", "--exit-code")
    assert result.exit_code == 1
    assert "~ config  description" in result.stdout and "do not stay comparable" in result.stdout
    assert rollout("diff", "--git", "HEAD", "envs/desk", "--exit-code").exit_code == 1
    unknown = rollout("diff", "--git", "nope")
    assert unknown.exit_code == 2 and "There is no revision “nope”" in unknown.stderr


# new

FORMS = {"folder": (), "toml": ("--toml",), "one-file": ("--one-file",), "one-toml": ("--toml", "--one-file")}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("template", templates())
def test_what_new_writes_validates_without_a_warning(here: Path, template: str, form: str) -> None:
    result = rollout("new", template, "envs/my-desk", *FORMS[form])
    assert result.exit_code == 0, result.stderr
    assert rollout("validate", "envs/my-desk", "--strict").exit_code == 0


@pytest.mark.parametrize("template", templates())
def test_every_form_of_a_scaffold_means_the_same(here: Path, template: str) -> None:
    for form, options in FORMS.items():
        rollout("new", template, f"{form}/desk", *options)
    compiled = {rollout("compile", f"{form}/desk").stdout_bytes for form in FORMS}
    assert len(compiled) == 1 and json.loads(compiled.pop())["environment"]["slug"] == "desk"


@pytest.mark.parametrize("template", ["workflow", "custom"])
def test_a_scaffold_is_proved_until_a_solution_is_missing(here: Path, template: str) -> None:
    rollout("new", template, "env")
    assert rollout("prove", "env").exit_code == 0
    tasks = here / "env/tasks.jsonl"
    lines = [json.loads(line) for line in tasks.read_text(encoding="utf-8").splitlines()]
    lines[0].pop("solution")
    tasks.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert rollout("prove", "env").exit_code == 1


@pytest.mark.parametrize("template", templates())
def test_every_file_of_the_format_names_its_schema_first(here: Path, template: str) -> None:
    rollout("new", template, "a")
    rollout("new", template, "b", "--toml")
    for path in (*here.glob("a/*.yaml"), *here.glob("b/*.toml")):
        first = path.read_text(encoding="utf-8").split("\n")[0]
        start = "# yaml-language-server: $schema=" if path.suffix == ".yaml" else "#:schema "
        assert first.startswith(f"{start}https://") and first.endswith(".schema.json")


def test_the_scaffold_of_a_workflow_reads_well(here: Path, snapshot: SnapshotAssertion) -> None:
    rollout("new", "workflow", "desk")
    assert contents(here / "desk") == snapshot


@pytest.mark.parametrize("name", ["desk.py", "desk.json", "desk.md", "desk.JSONL"])
def test_a_path_that_names_another_file_is_refused(here: Path, name: str) -> None:
    done = rollout("new", "workflow", f"envs/{name}")
    assert done.exit_code == 2
    assert f"“envs/{name}” is the name of a" in done.stderr
    assert "“envs/desk” for a folder, or “envs/desk.yaml” for one file" in done.stderr
    assert not (here / "envs").exists()


@pytest.mark.parametrize("template", ["workflow", "browser"])
def test_with_toml_every_file_that_can_be_is_toml(here: Path, template: str) -> None:
    rollout("new", template, "desk", "--toml")
    assert {path.suffix for path in (here / "desk").rglob("*") if path.is_file()} == {".toml", ".jsonl"}
    assert rollout("validate", "desk", "--strict").exit_code == 0


@pytest.mark.parametrize("name", ["desk.yaml", "desk.toml"])
def test_a_path_with_a_suffix_is_one_file(here: Path, name: str) -> None:
    assert rollout("new", "custom", f"envs/{name}").exit_code == 0
    assert [path.name for path in (here / "envs").iterdir()] == [name]
    assert rollout("validate", f"envs/{name}", "--strict").exit_code == 0
    assert json.loads(rollout("compile", f"envs/{name}").stdout)["environment"]["slug"] == "desk"
    again = rollout("new", "custom", f"envs/{name}")
    assert again.exit_code == 2 and "exists already" in again.stderr


@pytest.mark.parametrize("template", templates())
def test_every_scaffold_says_the_same_of_splits_and_solutions(here: Path, template: str) -> None:
    rollout("new", template, "desk.yaml")
    text = Path("desk.yaml").read_text(encoding="utf-8")
    assert "\n# The split dev is to work on, test to report on, train to learn from.\n" in text
    assert "\n# A solution stays on this machine, where `rollout prove` plays it.\ntasks:\n" in text


@pytest.mark.parametrize(
    ("slug", "name"), [("sql", "SQL"), ("faq-desk", "FAQ Desk"), ("night_shift", "Night Shift")]
)
def test_the_name_is_the_slug_as_people_write_it(here: Path, slug: str, name: str) -> None:
    rollout("new", "workflow", slug)
    assert f"\nname: {name}\n" in (Path(slug) / "environment.yaml").read_text(encoding="utf-8")


def test_new_overwrites_nothing(here: Path) -> None:
    rollout("new", "workflow", "desk")
    before = contents(here)
    result = rollout("new", "sql", "desk")
    assert result.exit_code == 2 and "is not empty" in result.stderr
    assert contents(here) == before


@pytest.mark.parametrize(
    ("path", "better"),
    [
        ("envs/My env!", "envs/my-env"),
        ("envs/.hidden", "envs/hidden"),
        ("-", ""),
        ("äöü", ""),
        ("x" * 101, "x" * 100),
    ],
    ids=["spaces", "dot", "dash", "umlauts", "long"],
)
def test_a_name_that_is_no_slug_is_explained(here: Path, path: str, better: str) -> None:
    result = rollout("new", "workflow", "--", path)
    assert result.exit_code == 2
    assert "slug" in result.stderr and f"“{better}" in result.stderr
    assert list(here.iterdir()) == []


def test_a_template_that_is_near_is_suggested(here: Path) -> None:
    result = rollout("new", "code_editing", "x")
    assert result.exit_code == 2 and "Did you mean “code-editing”?" in result.stderr
    assert "Choose one of" in rollout("new", "zzz", "x").stderr


def test_new_says_what_it_wrote_as_json(here: Path) -> None:
    data = data_of(rollout("new", "sql", "envs/ferries", "--json"))
    assert data["slug"] == "ferries"
    assert set(data["files"]) == {f"envs/ferries/{name}" for name in contents(here / "envs/ferries")}


@pytest.mark.parametrize("command", ["compile", "unpack", "diff", "new"])
def test_help_shows_an_example(command: str) -> None:
    result = rollout(command, "--help")
    assert result.exit_code == 0
    assert f"rollout {command} " in result.stdout and "Example" in result.stdout
