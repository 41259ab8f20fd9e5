"""What a Python file does to its own process is told as a problem; none of it reaches the program that reads it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rollout.source import read
from rollout.source.document import Document
from rollout.source.python_process import NoReport, run_apart

ENVIRONMENT = """\
from rollout import Environment, Task
env = Environment(slug="a", name="A", template="custom", config={"tools": []}, tasks=[Task("x", {"y": 1})])
"""


def document_of(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "envs.py"
    path.write_text(ENVIRONMENT + text, encoding="utf-8")
    (document,) = read(path)
    return document


def run_code(text: str, *, seconds: float = 60.0) -> object:
    return run_apart("/nowhere/envs.py", compile(text, "/nowhere/envs.py", "exec"), seconds=seconds)


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("import os; os._exit(0)", (0, None, None)),
        ("import os; os._exit(7)", (7, None, None)),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", (None, "SIGKILL", None)),
        ("import signal; signal.raise_signal(signal.SIGTERM)", (None, "SIGTERM", None)),
    ],
)
def test_a_file_that_ends_its_process_is_no_file_that_was_read(
    tmp_path: Path, text: str, ended: tuple[int | None, str | None, float | None]
) -> None:
    document = document_of(tmp_path, text)
    assert not document.readable
    assert [(problem.slug, problem.facts["ended"]) for problem in document.problems] == [
        ("python-file-failed", ended)
    ]


def test_a_file_that_never_ends_is_stopped() -> None:
    assert run_code("while True: pass", seconds=0.5) == NoReport(seconds=0.5)


@pytest.mark.parametrize(
    "loop",
    ["while True: pass", "import time\ntime.sleep(1e6)", "import threading\nthreading.Event().wait()"],
)
def test_a_file_that_never_ends_does_not_outlive_a_program_that_is_killed(tmp_path: Path, loop: str) -> None:
    path = tmp_path / "loop.py"
    path.write_text(
        "import os, pathlib\n"
        "done = pathlib.Path(__file__).with_name('started')\n"
        "done.with_suffix('.new').write_text(str(os.getpid()))\n"
        f"done.with_suffix('.new').rename(done)\n{loop}\n",
        encoding="utf-8",
    )
    program = subprocess.Popen([sys.executable, "-m", "rollout", "validate", path], stderr=subprocess.DEVNULL)
    started = tmp_path / "started"
    try:
        assert soon(started.exists)
    finally:
        program.kill()
        program.wait()
    child = int(started.read_text(encoding="utf-8"))
    assert soon(lambda: not is_running(child))


def soon(is_so: Callable[[], bool]) -> bool:
    return any(is_so() or time.sleep(0.02) for _ in range(1_500))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    # Where nobody waits for it, as in a container without an init, what has ended stays a zombie.
    return not (state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z")


def test_a_copy_that_outlives_a_file_without_a_report_is_not_waited_for() -> None:
    text = "import os, signal\nif os.fork(): os._exit(3)\nsignal.alarm(20)\nsignal.pause()"
    assert run_code(text) == NoReport(status=3)


def test_an_interrupt_of_the_file_interrupts_the_program() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_code("import os, signal; os.kill(os.getpid(), signal.SIGINT)")


def test_nothing_that_a_file_writes_reaches_the_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "import os\nos.write(1, b'raw\\n')\nprint('said')\nos.system('echo echoed')\nos.fork()\n"
    assert document_of(tmp_path, text).slug == "a"
    captured = capfd.readouterr()
    assert captured.out == ""
    assert {"raw", "said", "echoed"} <= set(captured.err.split())


def test_the_report_of_a_file_that_forks_is_printed_once(tmp_path: Path) -> None:
    path = tmp_path / "envs.py"
    path.write_text(ENVIRONMENT + "import os\nos.fork()\nenv.name = ''\n", encoding="utf-8")
    command = [sys.executable, "-m", "rollout", "validate", "--format", "concise", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == len(set(done.stdout.splitlines())) > 0


def test_what_a_file_registers_for_its_end_is_done(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    document_of(tmp_path, f"import atexit, pathlib\natexit.register(pathlib.Path({str(mark)!r}).touch)\n")
    assert mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "class P:\n    @property\n    def __class__(self): raise RuntimeError\np = P()",
        "class D(dict):\n    def values(self): raise ValueError\nd = D()",
        "class L(list):\n    def __iter__(self): raise ValueError\nl = L()",
        "class M(type):\n    def __instancecheck__(c, o): raise RuntimeError\nEnvironment = M('Environment', (), {})",
        "import builtins\nbuiltins.len = lambda x: 0\nbuiltins.isinstance = builtins.type = builtins.dict = None",
        "import builtins\nvars(builtins).clear()",
        "import sys\nsys.setrecursionlimit(60)",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 30)",
        "import threading\nthreading.Thread(target=threading.Event().wait).start()",
        "import sys\nsys.stdout.close()",
        "import sys\nsys.stderr.close()",
        "import os\nos.close(0); os.close(1); os.close(2)",
        "import json, os\njson.dumps = json.JSONEncoder = os.write = os.getpid = None",
        "Environment.slug = property(lambda self: 1 / 0)",
        "class S(str):\n    def __eq__(s, o): raise RuntimeError\n    __hash__ = str.__hash__\nenv.slug = S('a')",
        "class I(int):\n    def __int__(s): 1 / 0\n    __repr__ = __index__ = __int__\nenv.config['x-n'] = I(3)",
    ],
)
def test_odd_variables_and_replaced_builtins_keep_no_environment_from_being_read(
    tmp_path: Path, text: str
) -> None:
    document = document_of(tmp_path, text)
    assert document.problems == ()
    assert document.readable
    assert document.value["slug"] == "a"


@pytest.mark.parametrize(
    ("text", "slug", "route"),
    [
        (
            "class D(dict):\n    def items(self): raise RuntimeError\nenv.config = D()",
            "not-json",
            ("config",),
        ),
        ("env.config['x-n'] = 10 ** 5000", "bad-number", ("config", "x-n")),
        ("env.config['x-n'] = {10 ** 5000: 1}", "not-json", ("config", "x-n")),
        ("env.config = env", "not-json", ("config",)),
        ("env.tasks = (task for task in env.tasks)", "not-json", ("tasks",)),
        ("env.config['x-n'] = [1, env.tasks]", "not-json", ("config", "x-n", 1, 0)),
        (
            "class K(str):\n    __eq__ = lambda *_: 0\n    __hash__ = str.__hash__\nenv.config = {K('a'): 1, 'a': 2}",
            "not-json",
            ("config",),
        ),
        (
            "class E(Environment):\n    config = property(lambda s: 1/0, lambda s, v: 0)\nenv = E('b', 'B', 'custom')",
            "python-file-failed",
            ("config",),
        ),
    ],
)
def test_a_value_that_cannot_be_read_is_one_problem_at_its_place(
    tmp_path: Path, text: str, slug: str, route: tuple[str | int, ...]
) -> None:
    document = document_of(tmp_path, text)
    assert [(problem.slug, problem.facts["route"]) for problem in document.problems] == [(slug, route)]
    assert document.unread == {route[0]}


def test_plain_relatives_of_dict_list_and_text_are_read_as_what_they_hold(tmp_path: Path) -> None:
    text = """
import collections, enum
class Kind(str, enum.Enum):
    A = "a"
class Row(collections.namedtuple("Row", "x y")): pass
ordered = collections.OrderedDict(a=1, b=2)
ordered.move_to_end("a")
env.config = {"tools": [], "e": Kind.A, "r": Row(1, 2), "o": ordered, "d": collections.defaultdict(list, z=[])}
"""
    document = document_of(tmp_path, text)
    assert document.problems == ()
    assert document.value["config"] == {
        "tools": [],
        "e": "a",
        "r": [1, 2],
        "o": {"b": 2, "a": 1},
        "d": {"z": []},
    }
    assert list(document.value["config"]["o"]) == ["b", "a"]
