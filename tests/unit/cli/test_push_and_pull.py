"""`rollout push` and `rollout pull`: what is sent, what stays, and whose change is never undone by surprise."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pseudo_terminal import at_terminal
from servers.published import KEY, Published
from typer.testing import CliRunner, Result

from rollout import Client, Environment, RolloutError
from rollout.cli import app
from rollout.platform.push import PushError

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk" / "environment.yaml"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("ROLLOUT_API_KEY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ROLLOUT_ENDPOINT", "local")
    work = tmp_path / "work"
    (work / "desk").mkdir(parents=True)
    shutil.copy(DESK, work / "desk")
    monkeypatch.chdir(work)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return invoke


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def versions(run: Run) -> list[int]:
    found = json.loads(run("envs", "--versions", "desk", "--json").stdout)["data"]["versions"]
    return [each["number"] for each in found]


def outcomes(result: Result) -> dict[str, str]:
    told = json.loads(result.stdout)["data"]["environments"]
    return {each["path"]: each["outcome"] for each in told}


def test_what_is_new_is_sent_and_what_is_there_is_not_sent_again(run: Run) -> None:
    first = run("push", "desk")
    assert (first.exit_code, first.stdout) == (0, "desk: pushed to local (version 1, 3 tasks)\n")
    assert first.stderr == "note: desk: 2 solutions stay here.\n"
    again = run("push", "desk")
    assert (again.exit_code, again.stdout) == (0, "desk: unchanged at local, nothing was sent.\n")
    # How it is written is no change.
    edit("desk/environment.yaml", "name: Refunds", 'name: "Refunds"   # shown')
    assert "unchanged" in run("push", "desk").stdout
    assert versions(run) == [1]


def test_what_will_change_is_shown_and_a_rehearsal_sends_nothing(run: Run) -> None:
    run("push", "desk")
    edit("desk/environment.yaml", "Refund order O-1 for $100", "Give $100 back for O-1")
    rehearsed = run("push", "desk", "--dry-run")
    assert rehearsed.exit_code == 0
    assert "Refund order O-1 for $100." in rehearsed.stdout
    assert rehearsed.stdout.endswith("desk: would replace it at local.\n")
    assert versions(run) == [1]
    assert run("push", "desk").stdout.endswith("desk: pushed to local (version 2, 3 tasks, 1 of them new)\n")
    assert versions(run) == [2, 1]


def test_errors_stop_it_before_anything_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    edit("desk/environment.yaml", "kind: lookup", "kind: lokup")
    refused = run("push", "desk")
    assert refused.exit_code == 1
    assert "lokup" in refused.stderr
    assert run("envs").stdout == ""


def test_one_that_fails_does_not_keep_the_others(run: Run) -> None:
    for name in ("broken", "coded", "sound"):
        shutil.copytree("desk", name)
    edit("broken/environment.yaml", "kind: lookup", "kind: lokup")
    edit("coded/environment.yaml", "type: no_tool_errors}", "type: python, function: 'judge.py:judge'}")
    Path("coded/judge.py").write_text("def judge(case, options):\n    return 1.0, 'fine'\n")
    done = run("push", ".", "--json")
    assert done.exit_code == 1
    assert outcomes(done) == {"broken": "invalid", "coded": "refused", "desk": "created", "sound": "created"}
    by_path = {each["path"]: each for each in json.loads(done.stdout)["data"]["environments"]}
    found = json.loads(run("validate", "broken", "--json").stdout)["data"]["diagnostics"]
    assert by_path["broken"]["diagnostics"] == found != []
    assert (
        "“coded” was not pushed. “coded” is judged by the Python file of its primitive “no failed calls”"
        in done.stderr
    )
    listed = json.loads(run("envs", "--json").stdout)["data"]["environments"]
    assert [each["slug"] for each in listed] == ["desk", "sound"]


def test_two_of_one_slug_are_not_pushed_over_each_other(run: Run) -> None:
    shutil.copytree("desk", "twin")
    edit("twin/environment.yaml", "template: workflow", "slug: desk\ntemplate: workflow")
    assert run("push", ".").exit_code == 1
    assert versions(run) == [1]


def test_somebody_elses_change_is_not_undone(run: Run) -> None:
    run("push", "desk")
    shutil.copytree("desk", "colleague/desk")
    edit("colleague/desk/environment.yaml", "name: Refunds", "name: Returns")
    assert run("push", "colleague/desk", "--yes").exit_code == 0
    edit("desk/environment.yaml", "amount: 20}", "amount: 21}")
    refused = run("push", "desk")
    assert refused.exit_code == 1
    there, here = refused.stdout.split("Changed here since:")
    assert '"Refunds" → "Returns"' in there and "21" not in there
    assert "21" in here and "Returns" not in here
    assert (
        "was not pushed. It was changed at local since it was last pushed or pulled here." in refused.stderr
    )
    assert versions(run) == [2, 1]
    assert outcomes(run("push", "desk", "--json", "--dry-run")) == {"desk": "conflict"}
    assert run("push", "desk", "--yes").exit_code == 1, "yes is not force"
    assert run("push", "desk", "--force").exit_code == 0
    assert versions(run) == [3, 2, 1]


def test_a_change_there_alone_is_taken_over(run: Run) -> None:
    run("push", "desk")
    shutil.copytree("desk", "colleague/desk")
    edit("colleague/desk/environment.yaml", "name: Refunds", "name: Returns")
    run("push", "colleague/desk", "--yes")
    refused = run("push", "desk")
    assert "Nothing was changed here since, so take it over: rollout pull desk -o desk" in refused.stderr
    before = Path("desk/environment.yaml").read_text()
    assert run("pull", "desk").exit_code == 0
    assert Path("desk/environment.yaml").read_text() == before.replace("name: Refunds", "name: Returns")
    assert "unchanged" in run("push", "desk").stdout


def test_the_folder_to_take_it_over_into_is_one_word_of_the_command(run: Run) -> None:
    edit("desk/environment.yaml", "template: workflow", "slug: desk\ntemplate: workflow")
    shutil.copytree("desk", "my desk")
    run("push", "my desk")
    edit("desk/environment.yaml", "name: Refunds", "name: Returns")
    run("push", "desk", "--yes")
    assert "rollout pull desk -o 'my desk'" in run("push", "my desk").stderr


def test_what_was_not_pushed_from_here_is_replaced_only_with_a_word(run: Run) -> None:
    run("push", "desk")
    shutil.copytree("desk", "clone/desk")
    edit("clone/desk/environment.yaml", "name: Refunds", "name: Returns")
    refused = run("push", "clone/desk")
    assert refused.exit_code == 1
    assert '"Refunds" → "Returns"' in refused.stdout
    assert "local holds another version of it, which was not pushed from here." in refused.stderr
    assert versions(run) == [1]
    assert run("push", "clone/desk", "--yes").exit_code == 0
    assert versions(run) == [2, 1]


def test_somebody_who_pushes_in_between_is_not_overwritten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("push", "desk")
    edit("desk/environment.yaml", "name: Refunds", "name: Returns")
    push = Client.push_environment

    def late(self: Client, payload: object, **more: object) -> object:
        push(self, {**payload, "name": "First"})  # type: ignore[arg-type, dict-item]
        return push(self, payload, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Client, "push_environment", late)
    refused = run("push", "desk")
    assert refused.exit_code == 3
    assert "“desk” was not pushed. “desk” has changed here since." in refused.stderr


def test_a_person_is_asked_before_something_is_replaced(run: Run, tmp_path: Path) -> None:
    work = tmp_path / "work"
    run("push", "desk")
    edit("desk/environment.yaml", "name: Refunds", "name: Returns")
    with at_terminal("push", "desk", cwd=work) as terminal:
        terminal.expect("Replace “desk” at local? [y/N] ")
        terminal.type("n\r")
        assert terminal.wait() == 1
    assert versions(run) == [1]
    with at_terminal("push", "desk", cwd=work) as terminal:
        terminal.expect("Replace “desk” at local? [y/N] ")
        terminal.type("y\r")
        assert terminal.wait() == 0
    assert versions(run) == [2, 1]


def test_what_is_remembered_lies_in_a_folder_that_git_does_not_see(run: Run) -> None:
    Path(".git").mkdir()
    Path("envs").mkdir()
    shutil.move("desk", "envs/desk")
    run("push", "envs/desk")
    assert sorted(path.name for path in Path(".rollout").iterdir()) == [".gitignore", "lock", "pushed.json"]
    assert "*" in Path(".rollout/.gitignore").read_text().splitlines()
    assert not Path("envs/.rollout").exists()
    assert run("validate", ".").exit_code == run("validate", "envs/desk").exit_code == 0
    Path(".rollout/pushed.json").write_text("[]")
    refused = run("push", "envs/desk")
    assert refused.exit_code == 1
    assert "pushed.json” is not what rollout wrote there." in refused.stderr


def test_another_folder_of_data_is_another_platform(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("push", "desk")
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "other"))
    assert run("push", "desk").stdout == "desk: pushed to local (version 1, 3 tasks)\n"


def test_what_a_database_is_told_here_only_is_named(run: Run) -> None:
    Path("shop.yaml").write_text(
        "template: sql\nschema: 'CREATE TABLE t (a INTEGER);'\nseed: 'INSERT INTO t VALUES (3);'\n"
        "now: '2026-01-01'\nreadOnly: false\n"
        "tasks: [{instruction: 'What is a in t?', hidden_ground_truth: {query: 'SELECT a FROM t'}}]\n"
    )
    pushed = run("push", "shop.yaml")
    assert pushed.exit_code == 0, pushed.stderr
    assert "“now” and “readOnly” stay here: rollouts there run without." in pushed.stderr


def test_a_pulled_folder_compiles_to_the_same_bytes(run: Run) -> None:
    run("push", "desk")
    pulled = run("pull", "desk", "-o", "copy")
    assert pulled.exit_code == 0
    assert run("compile", "copy", "--digest").stdout == run("compile", "desk", "--digest").stdout
    assert run("compile", "copy", "--digest").stdout.strip() in pulled.stdout
    assert "says what local holds already" in run("pull", "desk", "-o", "copy").stdout
    assert run("pull", "desk", "-o", "copy").exit_code == 0


def test_an_older_version_is_pulled_by_the_start_of_its_digest(run: Run) -> None:
    run("push", "desk")
    digest = run("compile", "desk", "--digest").stdout.strip()
    before = Path("desk/environment.yaml").read_text()
    edit("desk/environment.yaml", "amount: 100}]}", "amount: 90}]}")
    run("push", "desk")
    assert run("pull", f"desk@{digest.removeprefix('sha256:')[:8]}").exit_code == 0
    assert Path("desk/environment.yaml").read_text() == before
    assert run("pull", "desk@ffffffff").exit_code == 3
    assert run("pull", "desk@ff").exit_code == 2


def test_what_was_never_pushed_is_not_undone(run: Run) -> None:
    run("push", "desk")
    edit("desk/environment.yaml", "amount: 100}]}", "amount: 90}]}")
    before = Path("desk/environment.yaml").read_text()
    refused = run("pull", "desk")
    assert refused.exit_code == 1
    assert "“desk” says something that was never pushed" in refused.stderr
    assert "90" in refused.stdout
    assert Path("desk/environment.yaml").read_text() == before
    forced = run("pull", "desk", "--force")
    assert forced.exit_code == 0
    assert "“solved” changed, and may need another solution" in forced.stderr
    assert Path("desk/environment.yaml").read_text() == before.replace("amount: 90}]}", "amount: 100}]}")


def test_a_folder_that_has_something_else_is_left_alone(run: Run) -> None:
    run("push", "desk")
    Path("notes").mkdir()
    Path("notes/todo.txt").write_text("milk")
    Path("desk.py").write_text("x = 1")
    for target in ("notes", "desk.py"):
        refused = run("pull", "desk", "-o", target)
        assert refused.exit_code == 2, refused.output
    for more in ((), ("--force",)):
        assert run("pull", "desk", "-o", "desk.py", *more).stderr == (
            "error: “desk.py” cannot be pulled into. It is a Python file, which is not written to.\n"
            "  help: Pull into a folder: -o FOLDER\n"
        )
    assert [path.name for path in Path("notes").iterdir()] == ["todo.txt"]
    assert run("pull", "nope").exit_code == 3
    assert run("pull", "../desk").exit_code == 2


def test_a_folder_with_errors_is_replaced_only_by_force(run: Run) -> None:
    run("push", "desk")
    Path("desk/environment.yaml").write_text("template: [")
    assert run("pull", "desk").exit_code == 2
    assert Path("desk/environment.yaml").read_text() == "template: ["
    forced = run("pull", "desk", "--force")
    assert forced.exit_code == 0
    assert "All of it was written anew" in forced.stderr
    assert "unchanged" in run("push", "desk").stdout


@pytest.fixture
def published(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Published]:
    with Published() as platform:
        monkeypatch.setenv("ROLLOUT_ENDPOINT", platform.address)
        monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
        yield platform


def test_a_platform_of_others_is_sent_the_environment_and_then_its_verifier(
    run: Run, published: Published
) -> None:
    pushed = run("push", "desk")
    assert (
        pushed.stdout
        == f"desk: pushed to {published.address} (3 tasks)\n→ {published.address}/environments/desk\n"
    )
    assert published.asked[:3] == [
        "GET /api/environments/desk",
        "POST /api/environments",
        "PUT /api/environments/desk/verifier",
    ]
    assert published.environments["desk"]["verifier"]["passThreshold"] == 0.8
    assert "solution" not in json.dumps(published.environments)
    published.asked.clear()
    assert "unchanged" in run("push", "desk").stdout
    assert published.asked == ["GET /api/environments/desk"]


def test_a_verifier_that_was_not_taken_is_told_of_and_sent_the_next_time(
    run: Run, published: Published
) -> None:
    published.refuses.add("PUT /api/environments/desk/verifier")
    refused = run("push", "desk")
    assert refused.exit_code == 3
    assert "The environment was pushed, its verifier was not: Something went wrong." in refused.stderr
    published.refuses.clear()
    assert run("push", "desk", "--force").exit_code == 0
    assert published.environments["desk"]["verifier"]["passThreshold"] == 0.8


def test_another_change_at_a_platform_of_others_is_seen_too(run: Run, published: Published) -> None:
    run("push", "desk")
    published.environments["desk"]["name"] = "Theirs"
    edit("desk/environment.yaml", "name: Refunds", "name: Ours")
    refused = run("push", "desk")
    assert refused.exit_code == 1
    assert "From what is there to what is here:" in refused.stdout
    assert '"Theirs" → "Ours"' in refused.stdout


def test_what_a_platform_may_not_know_is_named(run: Run, published: Published) -> None:
    Path("door.yaml").write_text(
        "template: custom\n"
        "config:\n"
        "  tools:\n"
        "    - name: open\n"
        "      paramsSchema: {code: integer}\n"
        "      cases: [{when: 'args.code == 7', response: Open., mutates: {path: door, value: open}}]\n"
        "      response: Wrong.\n"
        "  initialState: {door: shut}\n"
        "tasks: [{instruction: Open the door with code 7., hidden_ground_truth: {door: open}}]\n"
    )
    pushed = run("push", "door.yaml")
    assert f"{published.address} may not know “cases”, which “open” has." in pushed.stderr


def test_environments_are_pulled_from_a_platform_of_others(run: Run, published: Published) -> None:
    run("push", "desk")
    assert run("pull", "desk", "-o", "copy").exit_code == 0
    assert run("compile", "copy", "--digest").stdout == run("compile", "desk", "--digest").stdout
    published.environments["desk"]["template"] = "nonsense"
    refused = run("pull", "desk", "-o", "other")
    assert refused.exit_code == 3
    assert "holds as “desk” cannot be read" in refused.stderr
    published.environments["desk"]["slug"] = "other"
    assert run("pull", "desk", "-o", "other").exit_code == 3
    assert not Path("other").exists()


@pytest.mark.parametrize("kind", ["local", "published"])
def test_an_environment_in_python_pushes_itself(run: Run, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def push() -> None:
        tools = [{"name": "a", "response": "b"}]
        verifier = {"primitives": [{"name": "p", "type": "no_tool_errors"}]}
        environment = Environment("made", "Made", "custom", config={"tools": tools}, verifier=verifier)
        assert environment.push()["slug"] == "made"
        with Client() as client:
            assert environment.push(client)["slug"] == "made"
            held = client.get_environment("made")
        assert (held["verifier"] or {})["primitives"][0]["name"] == "p"

    if kind == "local":
        push()
        with pytest.raises(RolloutError), Client() as client:
            client.get_environment("nope")
        coded = Environment(
            "c", "C", "custom", config={}, verifier={"primitives": [{"name": "x", "type": "python"}]}
        )
        with pytest.raises(PushError):
            coded.push()
        return
    with Published() as platform:
        monkeypatch.setenv("ROLLOUT_ENDPOINT", platform.address)
        monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
        push()


def test_what_was_checked_is_counted_as_it_was(run: Run) -> None:
    for name in ("good", "bad"):
        Path(name).mkdir()
        Path(name, "environment.yaml").write_text(
            Path("desk/environment.yaml").read_text().replace("slug: desk", f"slug: {name}")
        )
    Path("bad/environment.yaml").write_text("template: nope\n")
    told = run("push", "good", "desk", "bad", "--dry-run").stderr
    assert "; 3 environments checked." in told
    Path("rollout.toml").write_text("nope = 1\n")
    told = run("test", "good", "-m", "noop").stderr
    assert "1 error in 1 file." in told and "checked" not in told
