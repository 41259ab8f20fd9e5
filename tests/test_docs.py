"""The README, the tutorial and the guides do what they say: their commands are run, their output is compared.

A ``console`` block holds commands (``$ …``, continued on lines that begin with ``> ``) and what each prints. ``…``
stands for any text within a line, and on a line of its own for any lines. A command that is to end with another
status than 0 says so: ``$ rollout validate broken  # exit 1``. Any other block whose first line is
``# file: PATH`` (``-- file: PATH`` in SQL) is written to that file. A page is one session in a folder with the
project's ``environments``; the chapters of the tutorial are one session together, which begins in an empty folder.
A page that asks a model at ``127.0.0.1:8000`` is answered by one that plays solutions, wherever that listens in truth.

``pytest tests/test_docs.py --update-expected`` writes what the commands print into the pages, to be read before
it is committed; of a command that ends with another status than it should, nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from servers.chat import ChatServer
from servers.solving import solves

ROOT = Path(__file__).parent.parent
TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
SESSIONS = {
    # Whoever goes on from the one to the other has the same home, and in it what was pushed to local.
    "README.md, then the platform": [ROOT / "README.md", ROOT / "docs" / "guides" / "platform.md"],
    "docs/tutorial": TUTORIAL,
    **{page.relative_to(ROOT).as_posix(): [page] for page in sorted((ROOT / "docs" / "guides").glob("*.md"))},
}
MODEL = "127.0.0.1:8000"
_AUTHOR = {"NAME": "Robin", "EMAIL": "robin@hotel.test"}
_BLOCK = re.compile(r"^(?P<ticks>`{3,})(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.M | re.S)
_STATUS = re.compile(r"\s+# exit (?P<status>\d+)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a page: its lines as they stand there, and the lines that it is to print."""

    shown: list[str]
    expected: list[str]

    @property
    def command(self) -> str:
        first, *more = self.shown
        lines = [first.removeprefix("$ "), *(line.removeprefix("> ") for line in more)]
        return _STATUS.sub("", "\n".join(lines))

    @property
    def status(self) -> int:
        named = _STATUS.search(self.shown[-1])
        return int(named["status"]) if named else 0


def read_steps(body: str) -> list[Step]:
    steps: list[Step] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            steps.append(Step([line], []))
        elif line.startswith("> ") and steps and not steps[-1].expected:
            steps[-1].shown.append(line)
        else:
            assert steps, f"a console block begins with a command, not with “{line}”"
            steps[-1].expected.append(line)
    return steps


def agrees(printed: list[str], expected: list[str]) -> bool:
    """Whether what was printed is what was expected, blank lines at the end and between blocks aside."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + r"\n"
        for line in trimmed(expected)
    )
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in trimmed(printed))) is not None


def trimmed(lines: list[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def run(command: str, folder: Path) -> tuple[int, list[str]]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ROLLOUT_", "GITHUB_", "OPENAI_"))
    }
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={
            **environment,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in _AUTHOR.items()
            },
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=120,
    )
    return ended.returncode, ended.stdout.decode("utf-8").splitlines()


@pytest.mark.parametrize("session", SESSIONS)
def test_a_page_does_what_it_says(session: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if SESSIONS[session] != TUTORIAL:
        shutil.copytree(ROOT / "environments", tmp_path / "environments")
    update = bool(request.config.getoption("--update-expected"))
    lines = (ROOT / "environments" / "refund" / "tasks.jsonl").read_text(encoding="utf-8").split("\n")
    with ChatServer([solves([json.loads(line) for line in lines if line])]) as server:
        address = urlsplit(server.address).netloc
        wrong = [
            said for page in SESSIONS[session] for said in follow(page, tmp_path, address, update=update)
        ]
    assert not wrong, "\n\n".join(wrong)


def follow(page: Path, folder: Path, address: str, *, update: bool) -> list[str]:
    """Writes the page's files and runs its commands in ``folder``; what did not go as the page says."""
    text = page.read_text(encoding="utf-8")
    updated, done = "", 0
    wrong: list[str] = []
    for block in _BLOCK.finditer(text):
        body = block["body"]
        first, _, rest = body.partition("\n")
        if block["language"] == "console":
            shown: list[str] = []
            for step in read_steps(body):
                status, printed = run(step.command.replace(MODEL, address), folder)
                printed = [line.replace(address, MODEL) for line in printed]
                fits = agrees(printed, step.expected)
                if status != step.status or not (fits or update):
                    told = "\n".join(printed)
                    wrong.append(f"{page.name}: $ {step.command}\nended with {status} and printed\n{told}")
                keep = fits or status != step.status
                shown += [*step.shown, *(step.expected if keep else trimmed(printed))]
            updated += text[done : block.start("body")] + "".join(f"{line}\n" for line in shown)
            done = block.end("body")
        elif first.startswith(("# file: ", "-- file: ")):
            path = folder / first.partition("file: ")[2].strip()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest.replace(MODEL, address), encoding="utf-8")
    if update:
        page.write_text(updated + text[done:], encoding="utf-8")
    return wrong


@pytest.mark.parametrize(
    ("printed", "expected", "fits"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["a"], False),
        (["a", "b", "c"], ["a", "…"], True),
        (["a", "b", "c"], ["a", "…", "c"], True),
        (["took 12 ms"], ["took … ms"], True),
        (["took 12 s"], ["took … ms"], False),
        (["a (b)"], ["a (b)"], True),
        ([], [""], True),
    ],
)
def test_an_ellipsis_stands_for_any_text(printed: list[str], expected: list[str], fits: bool) -> None:
    assert agrees(printed, expected) is fits


def test_a_command_may_be_continued_and_name_its_status() -> None:
    [step, other] = read_steps("$ rollout validate \\\n>   broken  # exit 1\nsaid\n$ true\n")
    assert (step.command, step.status) == ("rollout validate \\\n  broken", 1)
    assert (step.expected, other.status) == (["said"], 0)
