"""A command in the sandbox reaches nothing of this machine, uses no more than it may, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from tempfile import gettempdir

import pytest

from rollout.sandbox import Ended, Job, Limits, run

MIB = 1024 * 1024
SMALL = Limits(seconds=20, memory=200 * MIB, processes=40, output=2 * MIB, file=8 * MIB, disk=16 * MIB)


def ran(command: str, files: dict[str, str] | None = None, limits: Limits = SMALL) -> Ended:
    return asyncio.run(run(Job(command, files or {}, limits=limits)))


def python(code: str, limits: Limits = SMALL) -> Ended:
    return ran("python attack.py", {"attack.py": textwrap.dedent(code)}, limits)


def running_with(mark: str) -> list[str]:
    """The processes of this machine that have ``mark`` on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(entry.name)
    return found


class TestWhatItSees:
    def test_the_files_of_the_job_and_its_own_folder(self) -> None:
        ended = ran("pwd; cat a/b.txt; ./x.sh", {"a/b.txt": "hello\n", "x.sh": "#!/bin/sh\necho ran\n"})
        assert ended == Ended(0, "/project\nhello\nran\n")

    @pytest.mark.parametrize(
        "path", ["/etc/shadow", "/etc/ssh", "/var", "/home", "/root/.ssh", "/proc/1/root/etc/shadow"]
    )
    def test_nothing_private(self, path: str) -> None:
        ended = ran(f"ls {path} && cat {path}")
        assert ended.status != 0

    def test_not_the_home_of_who_runs_it(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret.txt"
        secret.write_text("do not tell", encoding="utf-8")
        ended = ran(f"cat {secret} ~/.bashrc {Path.home()}/.bashrc {Path(__file__)}")
        assert ended.status != 0
        assert "do not tell" not in ended.output
        assert ended.output.count("No such file") + ended.output.count("Permission denied") == 4

    def test_none_of_our_variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        ended = ran("env; cat /proc/*/environ")
        assert "sk-secret" not in ended.output
        assert "HOME=/tmp" in ended.output

    def test_no_path_of_this_machine_on_a_command_line(self) -> None:
        ended = ran("tr '\\0' ' ' < /proc/1/cmdline")
        assert "bwrap" in ended.output
        assert "bind" not in ended.output
        assert gettempdir() not in ended.output

    def test_none_of_our_processes(self) -> None:
        ended = ran("ls /proc | grep -c '^[0-9]'")
        assert int(ended.output) < 10
        assert ran(f"kill -0 {os.getpid()}").status != 0

    def test_no_network(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            ended = python(
                f"""
                import socket
                for address in [("127.0.0.1", {port}), ("1.1.1.1", 53)]:
                    try:
                        socket.create_connection(address, timeout=2)
                        print("connected")
                    except OSError as error:
                        print("refused")
                """
            )
        assert ended.output == "refused\nrefused\n"

    def test_no_way_to_more_rights(self) -> None:
        ended = ran(
            "unshare -U true; mount -t tmpfs none /mnt; grep -E '^Cap(Eff|Prm|Amb)' /proc/self/status; id -u"
        )
        *capabilities, user = [
            line for line in ended.output.splitlines() if "ermi" not in line and "mount" not in line
        ]
        assert [line.split()[1] for line in capabilities] == ["0" * 16] * 3
        assert user != "0"

    def test_a_system_it_cannot_write(self) -> None:
        ended = ran("find / /usr /etc /run /dev -xdev \\( -type f -o -type d \\) -writable 2>/dev/null")
        devices = {f"/dev/{name}" for name in ("full", "null", "random", "tty", "urandom", "zero", "shm")}
        assert set(ended.output.split()) <= {"/tmp", "/project"} | devices

    def test_a_kernel_it_cannot_set(self) -> None:
        # Only looked at, since writing would change this machine.
        ended = ran(
            "find /proc -maxdepth 6 -not -path '/proc/[0-9]*' -not -path '/proc/*self*' -writable -type f 2>/dev/null"
        )
        assert [line for line in ended.output.splitlines() if not line.startswith("/proc/pressure/")] == []


class TestWhatItUses:
    def test_an_endless_loop_is_stopped(self) -> None:
        started = time.monotonic()
        assert ran("while :; do :; done", limits=Limits(seconds=1)).stopped == "time"
        assert time.monotonic() - started < 10

    def test_sleeping_without_end_is_stopped_with_its_children(self) -> None:
        assert ran("sleep 98761 & sleep 98762", limits=Limits(seconds=0.5)).stopped == "time"
        assert [*running_with("sleep\x0098763"), *running_with("sleep\x0098764")] == []

    def test_a_fork_bomb_is_held(self) -> None:
        ended = ran("bomb() { bomb | bomb & }; bomb; sleep 2; echo alive", limits=SMALL)
        assert ended.stopped is not None or "fork" in ended.output
        assert running_with("bomb()") == []

    def test_processes_beyond_the_limit_are_refused(self) -> None:
        ended = python(
            """
            import subprocess
            made = []
            try:
                for _ in range(200):
                    made.append(subprocess.Popen(["sleep", "30"]))
            except OSError:
                print("refused after", len(made) < 60)
            """
        )
        assert ended.stopped == "processes" or ended.output == "refused after True\n"

    def test_memory_of_one_process_is_bounded(self) -> None:
        ended = python("x = []\nwhile True: x.append(bytearray(1 << 20))")
        assert ended.stopped == "memory" or "MemoryError" in ended.output

    def test_memory_of_many_processes_is_bounded(self) -> None:
        ended = python(
            """
            import os, time
            for _ in range(6):
                if os.fork() == 0:
                    block = bytearray(os.urandom(1 << 20)) * 100
                    time.sleep(20)
            time.sleep(20)
            """
        )
        assert ended.stopped == "memory"

    @pytest.mark.parametrize("folder", ["/tmp", "/project", "/dev/shm"])
    def test_a_disk_cannot_be_filled(self, folder: str) -> None:
        ended = ran(f"for i in 1 2 3 4 5; do head -c 7000000 /dev/zero > {folder}/f$i || exit 9; done")
        assert ended.status == 9
        assert "No space left" in ended.output

    def test_a_huge_file_is_refused(self) -> None:
        ended = ran("head -c 20000000 /dev/zero > big; echo $?")
        assert ended.output.splitlines()[-1] != "0"

    def test_endless_output_is_stopped_and_not_kept(self) -> None:
        ended = ran("yes")
        assert ended.stopped == "output"
        assert len(ended.output) < MIB
        assert "left out" in ended.output

    def test_memory_that_no_process_has_mapped_cannot_be_had(self) -> None:
        ended = python(
            "import os\ntry:\n    os.memfd_create('x')\nexcept OSError as error:\n    print(error.errno)"
        )
        assert ended.output == "1\n"


class TestWhatItLeaves:
    def test_nothing_in_the_background(self) -> None:
        ended = ran("setsid nohup sleep 98763 >/dev/null 2>&1 & (sleep 98764 &) ; echo done")
        assert (ended.status, ended.output) == (0, "done\n")
        assert [*running_with("sleep\x0098763"), *running_with("sleep\x0098764")] == []

    def test_nothing_when_the_rollout_is_cancelled(self) -> None:
        async def cancelled() -> None:
            task = asyncio.create_task(run(Job("sleep 98765", {})))
            while not running_with("sleep\x0098765"):
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        assert running_with("sleep\x0098765") == []

    def test_nothing_when_the_runner_is_killed(self, tmp_path: Path) -> None:
        code = (
            "import asyncio; from rollout.sandbox import Job, run; asyncio.run(run(Job('sleep 98766', {})))"
        )
        runner = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)})
        try:
            wait_until(lambda: bool(running_with("sleep\x0098766")))
        finally:
            runner.send_signal(signal.SIGKILL)
            runner.wait()
        wait_until(lambda: not running_with("sleep\x0098766"))
        assert running_with("sleep\x0098766") == []

    def test_no_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        ran("mkdir -p d/e; ln -s / root; echo 1 > d/e/f; chmod -R 000 d", {"a": "1"})
        assert list(tmp_path.iterdir()) == []


def wait_until(true: object) -> None:
    deadline = time.monotonic() + 20
    while not true():  # type: ignore[operator]
        assert time.monotonic() < deadline
        os.sched_yield()


class TestManyAtOnce:
    def test_the_event_loop_stays_free(self) -> None:
        async def both() -> int:
            ticks = 0
            task = asyncio.create_task(run(Job("sleep 0.6", {})))
            while not task.done():
                await asyncio.sleep(0.01)
                ticks += 1
            return ticks

        assert asyncio.run(both()) > 15

    def test_each_has_its_own_files_and_output(self) -> None:
        async def all_of_them() -> list[Ended]:
            return await asyncio.gather(
                *(run(Job("cat me; echo x > other; ls", {"me": f"{number}\n"})) for number in range(12))
            )

        assert [ended.output for ended in asyncio.run(all_of_them())] == [
            f"{number}\nme\nother\n" for number in range(12)
        ]
