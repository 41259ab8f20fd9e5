"""`rollout test --report FILE` and `rollout traces --format html`: when a report is made, and when it is refused."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from servers.chat import ChatServer, says
from typer.testing import CliRunner, Result

from rollout.analysis.report import ReportError, page, target
from rollout.analysis.report.page import Run, write_page
from rollout.cli import app

ROOT = Path(__file__).parents[3]
DESK = ROOT / "tests" / "cases" / "models" / "desk"
KEY = "correct-horse-battery-2"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return invoke


@pytest.fixture
def asking(run: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    def invoke(server: ChatServer, *arguments: str) -> Result:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return run("test", *arguments, "-m", "openai/gpt-4o-mini")  # type: ignore[no-any-return]

    return invoke


def rows(name: str = "report.html") -> list[dict[str, Any]]:
    [block] = re.findall(r'class="rows">(.*?)</script>', Path(name).read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = json.loads(block)
    return found


def transcript(at: int, name: str = "report.html") -> Any:
    text = Path(name).read_text(encoding="utf-8")
    return json.loads(re.findall(rf'id="rollout-{at}">(.*?)</script>', text)[0])


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def outcomes(name: str = "report.html") -> dict[str, str]:
    return {f"{row['task']}:{row['trial']}": row["outcome"] for row in rows(name)}


def test_a_report_is_beside_what_is_shown_of_the_run(run: Any) -> None:
    plain = run("test", str(DESK), "-m", "oracle")
    reported = run("test", str(DESK), "-m", "oracle", "--report", "report.html")
    assert (reported.exit_code, reported.stdout) == (plain.exit_code, plain.stdout)
    assert reported.stderr == "report: report.html\n"
    assert outcomes() == {"solved:0": "passed", "wrong:0": "failed", "unsolved:0": "error"}
    assert files() == ["report.html"]


def test_a_run_in_a_folder_has_its_report_with_it_and_again_at_any_time(run: Any) -> None:
    asked = (
        "test",
        str(DESK),
        "-m",
        "oracle",
        "-n",
        "2",
        "--out",
        "runs/one",
        "--report",
        "runs/one/report.html",
    )
    assert run(*asked).exit_code == 1
    before = (Path("runs/one/rollouts.jsonl")).read_bytes()
    assert len(outcomes("runs/one/report.html")) == 6
    assert run("test", "--resume", "runs/one", "--report", "again.html").exit_code == 1
    assert Path("runs/one/rollouts.jsonl").read_bytes() == before
    assert Path("again.html").read_bytes() == Path("runs/one/report.html").read_bytes()
    exported = run("traces", "runs/one", "--format", "html", "-o", "exported.html")
    assert (exported.exit_code, exported.stdout) == (0, "")
    assert Path("exported.html").read_bytes() == Path("again.html").read_bytes()
    shown = run("traces", "runs/one", "--format", "html")
    assert shown.stdout_bytes == Path("again.html").read_bytes()


def test_of_rollouts_without_their_run_the_page_says_what_it_does_not_know(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    Path("run/rollouts.jsonl").rename("lines.jsonl")
    assert run("traces", "lines.jsonl", "--format", "html", "-o", "report.html").exit_code == 0
    assert len(rows()) == 3
    assert "the rollouts were given without their run" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("-", "A report is written to a file."),
        ("", "A report is written to a file."),
        ("new/", "A report is written to a file."),
        ("folder", "“folder” is a folder."),
        ("notes.txt", "There is something else in “notes.txt” than a report."),
        ("page.html", "There is something else in “page.html” than a report."),
        ("notes.txt/report.html", "“notes.txt/report.html” cannot be written: “…/notes.txt” is no folder."),
        ("notes.txt/a/report.html", "“notes.txt/a/report.html” cannot be written: Not a directory."),
        ("pipe", "“pipe” is no file that a report could take the place of."),
        ("ring", "“ring” is a link that leads back to itself."),
        ("n\0.html", "“n␀.html” cannot be written: a name has no zero byte."),
        ("n" * 300, f"“{'n' * 300}” cannot be written: File name too long."),
        ("/proc/report.html", "“/proc/report.html” cannot be written: No such file or directory."),
    ],
)
@pytest.mark.parametrize("command", ["test", "traces"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_run(
    run: Any, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str, command: str
) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "old")
    Path("folder").mkdir()
    Path("notes.txt").write_text("Buy milk.")
    Path("page.html").write_text("<!doctype html>\n<html>mine</html>")
    Path("ring").symlink_to("ring")
    os.mkfifo("pipe")
    before = files()
    asked: dict[str, tuple[str, ...]] = {
        "test": ("test", str(DESK), "-m", "oracle", "--out", "new", "--report", name),
        "traces": ("traces", "old", "--format", "html", "-o", name),
    }
    ended = run(*asked[command])
    assert (ended.exit_code, ended.stdout) == (2, "")
    said, *_ = ended.stderr.replace(str(Path.cwd()), "…").splitlines()
    assert said == f"error: {sentence}"
    assert files() == before


def test_an_older_report_is_replaced_also_through_a_link_and_with_the_rights_of_a_new_file(run: Any) -> None:
    Path("empty.html").touch()
    assert run("test", str(DESK), "-m", "oracle", "--limit", "1", "--report", "empty.html").exit_code == 0
    Path("latest.html").symlink_to("empty.html")
    run("test", str(DESK), "-m", "oracle", "--report", "latest.html")
    assert Path("latest.html").is_symlink()
    assert len(rows("empty.html")) == 3
    Path("plain").touch()
    assert Path("empty.html").stat().st_mode == Path("plain").stat().st_mode


def test_an_environment_with_errors_leaves_no_report_and_an_older_one_as_it_was(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--report", "report.html")
    before = Path("report.html").read_bytes()
    Path("broken.yaml").write_text("template: workflow\nname: 3\n")
    assert run("test", "broken.yaml", "-m", "oracle", "--report", "report.html").exit_code == 1
    assert Path("report.html").read_bytes() == before
    assert files() == ["broken.yaml", "report.html"]


def test_settings_that_cannot_be_read_leave_nothing_behind(run: Any) -> None:
    Path("rollout.toml").write_text("[providers.mine]\n")
    assert run("test", str(DESK), "-m", "oracle", "--report", "report.html").exit_code == 2
    assert files() == ["rollout.toml"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_disk_that_fills_up_is_a_sentence_and_an_older_report_stays(
    run: Any, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    run("test", str(DESK), "-m", "oracle", "--report", "report.html")
    before = Path("report.html").read_bytes()

    def full(run: Run, stream: IO[bytes]) -> None:
        stream.write(b"half a page")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page, "write_page", full)
    out = ("--out", "run") if kept else ()
    ended = run("test", str(DESK), "-m", "oracle", "--report", "report.html", *out)
    assert ended.exit_code == 3
    assert "cannot be written: No space left on device." in ended.stderr
    assert ("rollout traces run --format html -o FILE" in ended.stderr) is kept
    assert "1 passed, 1 failed, 1 error" in ended.stdout
    assert Path("report.html").read_bytes() == before
    assert files() == ["report.html", *(["run"] if kept else [])]


def test_a_run_that_was_stopped_has_a_report_of_what_was_done(asking: Any) -> None:
    with ChatServer([says("Done.")]) as server:
        ended = asking(
            server, str(DESK), "--concurrency", "1", "--max-tokens", "200", "--report", "report.html"
        )
    assert ended.exit_code == 1
    text = Path("report.html").read_text(encoding="utf-8")
    assert "The limit of 200 tokens is reached: 220 were used." in text
    assert "2 of 3 rollouts are done." in text
    assert len(rows()) == 2


def test_a_run_of_which_nothing_was_done_has_a_report_that_says_so(asking: Any) -> None:
    with ChatServer([says("Done.")]) as server:
        asking(server, str(DESK), "--max-tokens", "0", "--report", "report.html")
    assert "0 of 3 rollouts are done." in Path("report.html").read_text(encoding="utf-8")


def test_a_key_that_a_server_sends_back_is_not_in_the_report(asking: Any, run: Any) -> None:
    with ChatServer([says(f"Your key is {KEY}, is it not?")]) as server:
        asking(server, str(DESK), "--out", "run", "--report", "report.html")
    exported = run("traces", "run", "--format", "html")
    assert "Your key is [hidden], is it not?" in json.dumps(transcript(0)["steps"])
    assert KEY not in Path("report.html").read_text(encoding="utf-8")
    assert KEY not in exported.stdout


def test_a_site_is_shown_as_the_page_that_it_ended_on(run: Any) -> None:
    shop = ROOT / "environments" / "web-shop"
    run("test", str(shop), "-m", "oracle", "--limit", "1", "--report", "report.html")
    assert transcript(0)["page"].startswith('<section class="page"><header><b>Thank you')
    run("test", str(DESK), "-m", "oracle", "--limit", "1", "--report", "report.html")
    assert transcript(0)["page"] is None


def test_a_summary_that_is_older_than_the_run_is_not_believed(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--limit", "2", "--out", "run")
    summary = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))
    for told, words in ((summary, True), ({**summary, "all": 1}, False)):
        Path("run/summary.json").write_text(json.dumps({**told, "planned": 9}))
        run("traces", "run", "--format", "html", "-o", "report.html")
        assert ("2 of 9 rollouts are done." in Path("report.html").read_text(encoding="utf-8")) is words


@pytest.mark.parametrize(
    "told",
    [
        b"[]",
        b"{",
        b"{}",
        b'{"all": 3, "planned": 3, "stopped": "x"}',
        b'{"all": 3, "planned": 3, "stopped": {}}',
        b'{"all": 3, "planned": "x", "stopped": null}',
        b'{"all": [], "planned": 3, "stopped": null}',
    ],
)
def test_a_summary_that_cannot_be_read_is_a_sentence_and_without_it_there_is_a_report(
    run: Any, told: bytes
) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    Path("run/summary.json").write_bytes(told)
    refused = run("traces", "run", "--format", "html", "-o", "report.html")
    assert (refused.exit_code, refused.stdout, files()) == (2, "", ["run"])
    assert "error: “run/summary.json” is no summary of a run.\n" in refused.stderr
    Path("run/summary.json").unlink()
    assert run("traces", "run", "--format", "html", "-o", "report.html").exit_code == 0
    assert len(rows()) == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"inputs": "x"},
        {"inputs": {"model": 3}},
        {"inputs": {"model": "oracle", "sampling": [1]}},
        {"options": [1]},
    ],
)
def test_a_configuration_of_another_shape_is_a_sentence(run: Any, changed: dict[str, Any]) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    config = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    Path("run/run.json").write_text(json.dumps({**config, **changed}))
    refused = run("traces", "run", "--format", "html")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "its run.json is not as it was written." in refused.stderr


@pytest.mark.parametrize("form", ["html", "openai", "atif"])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("n" * 300, f"“{'n' * 300}” cannot be read: File name too long."),
        ("nowhere", "There are no rollouts in “nowhere”."),
        ("", "There are no rollouts in “.”."),
    ],
)
def test_rollouts_that_cannot_be_had_are_a_sentence(run: Any, form: str, name: str, sentence: str) -> None:
    refused = run("traces", name, "--format", form)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.splitlines()[0] == f"error: {sentence}"
    assert "Give a run's folder, or its rollouts.jsonl." in refused.stderr


@pytest.mark.parametrize("form", ["openai", "atif"])
def test_a_line_that_has_no_rollout_in_it_is_a_sentence_in_each_format(run: Any, form: str) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    with Path("run/rollouts.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"trace": {"task": "odd", "trial": 4}, "verdict": {}}\n')
    for also in ((), ("--outcome", "passed")):
        refused = run("traces", "run", "--format", form, *also)
        assert refused.exit_code == 2
        assert "error: A rollout of task “odd” cannot be read (KeyError: " in refused.stderr
        assert "Take trial 4 of it out of the lines in “run”." in refused.stderr


def test_a_run_that_cannot_be_gone_on_with_for_the_length_of_its_name_is_a_sentence(run: Any) -> None:
    refused = run("test", "--resume", "n" * 300)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cannot be written to: File name too long." in refused.stderr


OF_THE_RUN = ("rollouts.jsonl", "run.json", "summary.json")


@pytest.mark.parametrize("name", [*(f"runs/one/{each}" for each in OF_THE_RUN), "runs/one", "runs"])
def test_a_report_in_the_place_of_the_run_is_refused_before_anything_is_run(run: Any, name: str) -> None:
    refused = run("test", str(DESK), "-m", "oracle", "--out", "runs/one", "--report", name)
    assert (refused.exit_code, refused.stdout, files()) == (2, "", [])
    assert f"error: “{name}” is where the run itself is kept.\n" in refused.stderr


@pytest.mark.parametrize("name", OF_THE_RUN)
@pytest.mark.parametrize("given", ["run", "run/rollouts.jsonl"])
def test_a_report_of_a_run_that_is_kept_takes_the_place_of_none_of_its_files(
    run: Any, name: str, given: str
) -> None:
    run("test", str(DESK), "-m", "oracle", "--limit", "1", "--out", "run")
    Path("run/summary.json").unlink()
    Path("run/rollouts.jsonl").write_bytes(b"")
    before = sorted(Path("run").iterdir())
    for asked in (
        ("traces", given, "--format", "html", "-o", f"run/{name}"),
        ("test", "--resume", "run", "--report", f"run/{name}"),
    ):
        refused = run(*asked)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert f"error: “run/{name}” is where the run itself is kept.\n" in refused.stderr
        assert sorted(Path("run").iterdir()) == before


def test_what_came_to_the_place_of_the_report_meanwhile_is_kept(run: Any) -> None:
    claimed = target.Target.claim("report.html")
    Path("report.html").write_text("Buy milk.")
    Path("lines.jsonl").touch()
    with pytest.raises(ReportError, match=r"There is something else in “.*report\.html” than a report"):
        claimed.write(partial(write_page, Run(Path("lines.jsonl"))))
    claimed.close()
    assert Path("report.html").read_text() == "Buy milk."
    assert files() == ["lines.jsonl", "report.html"]


def test_an_ordinary_word_in_a_variable_that_is_called_like_a_key_is_shown(
    asking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SORT_KEY", "refunds")
    monkeypatch.setenv("OTHER_KEY", "refunds-2024-q3")
    with ChatServer([says("Sorted by refunds, and by refunds-2024-q3.")]) as server:
        asking(server, str(DESK), "--report", "report.html")
    assert "Sorted by refunds, and by [hidden]." in json.dumps(transcript(0)["steps"])


def test_a_report_of_some_outcomes_only_is_refused(run: Any) -> None:
    run("test", str(DESK), "-m", "oracle", "--out", "run")
    refused = run("traces", "run", "--format", "html", "--outcome", "failed")
    assert refused.exit_code == 2
    assert "A report is of the whole run" in refused.stderr
