"""Joins a Ray cluster, or starts one; says in a sentence why not, and within a bound of time."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from importlib import import_module
from threading import Lock, Thread, current_thread, main_thread
from typing import Any, TypeVar

from rollout.engine.executors import AbsentError, ExecutorError

_T = TypeVar("_T")

_SECONDS_TO_REACH = 10.0
_SECONDS_TO_ANSWER = 20.0
_SECONDS_TO_LEAVE = 15.0
_OBJECT_STORE = 256 * 1024 * 1024

_HOST_AND_PORT = re.compile(r"(?P<host>[^:/\s]+|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})")
_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""How a client of gRPC begins: the preface of HTTP/2, and settings that set nothing."""

_QUIET = {
    # Nobody is told of this cluster.
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class LostError(Exception):
    """The cluster does not answer any more."""


_joining = Lock()
_runs = 0
"""How many runs of this process are on the cluster that it joined itself: a server has several at once."""


class Cluster:
    """A cluster that this process is part of. ``ray`` is the module."""

    def __init__(self, ray: Any, name: str, *, ours: bool) -> None:
        self.ray = ray
        self.name = name
        self._ours = ours

    async def processors(self) -> int:
        """How many processors there are on the machines that are alive. Raises LostError."""
        try:
            nodes = await aside(self.ray.nodes, _SECONDS_TO_ANSWER)
        except Exception as error:
            raise LostError(str(error)) from None
        return int(sum(node["Resources"].get("CPU", 0) for node in nodes if node["Alive"]))

    async def leave(self) -> None:
        """Leaves the cluster, and ends it where it was started for this."""
        if self._ours:
            with suppress(Exception):
                await aside(self._shut_down_unless_used, _SECONDS_TO_LEAVE)

    def _shut_down_unless_used(self) -> None:
        global _runs
        with _joining:
            _runs -= 1
            if _runs == 0:
                self.ray.shutdown()


def check_address(address: str) -> None:
    """Raises ExecutorError for what is no address of a cluster."""
    if address in ("", "auto", "local") or _HOST_AND_PORT.fullmatch(address):
        return
    if address.startswith("ray://"):
        raise ExecutorError(
            "A run is part of its cluster, and not a client of it.",
            "Start it on a machine of the cluster, with --executor ray:auto; `ray job submit` does so from elsewhere.",
        )
    raise ExecutorError(
        f"“{address}” is no address of a Ray cluster.",
        "Write --executor ray, ray:auto or ray:HOST:PORT, such as ray:10.0.0.2:6379.",
    )


def join(address: str) -> Cluster:
    """The cluster at ``address``; the one in RAY_ADDRESS, or a new one here, where that is empty.

    Raises ExecutorError for what is no address, and AbsentError where there is none.
    """
    with _joining:
        return _join(address)


def _join(address: str) -> Cluster:
    global _runs
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    ray = import_module("ray")
    if ray.is_initialized():
        ours = _runs > 0
        _runs += ours
        return Cluster(ray, "the cluster", ours=ours)
    wanted = address or "local"
    if address in ("", "auto"):
        wanted = os.environ.get("RAY_ADDRESS", "").strip() or wanted
        check_address(wanted)
    if wanted == "auto":
        with suppress(Exception):
            # Where Ray has noted down a cluster that is long gone, it would be waited for like any other.
            wanted = import_module("ray._private.services").get_ray_address_from_environment("auto", None)
    if (match := _HOST_AND_PORT.fullmatch(wanted)) is not None:
        _reach(wanted, match["host"].strip("[]"), int(match["port"]))
    options: dict[str, Any] = {}
    if wanted == "local":
        options = {"include_dashboard": False, "object_store_memory": _OBJECT_STORE}
    # Ray prints what befalls the cluster on standard output, among the results.
    printing: Any = import_module("ray._private.worker")
    printing._worker_logs_enabled = False
    try:
        # Ray puts the folder that this runs in before all others on the path of its workers, where an author's files
        # would be taken for modules.
        with chdir("/"), _own_signals():
            ray.init(wanted, log_to_driver=False, logging_level=logging.CRITICAL, **options)
    except (Exception, SystemExit) as error:
        with suppress(Exception):
            ray.shutdown()
        raise _words(wanted, error) from None
    _runs = 1
    return Cluster(
        ray, "the cluster" if wanted in ("auto", "local") else f"the cluster at {wanted}", ours=True
    )


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for its own, so that a server would end at once and drain nothing."""
    if current_thread() is not main_thread():
        yield
        return
    kept = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in kept.items():
            if handler is not None:  # one that is not Python's cannot be put back
                signal.signal(each, handler)


def _reach(address: str, host: str, port: int) -> None:
    """Raises AbsentError where nothing listens that could be a cluster: Ray itself would wait for minutes."""
    hint = "Look there with `ray status`; `ray start --head` starts one."
    try:
        with socket.create_connection((host, port), _SECONDS_TO_REACH) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return
            connection.settimeout(_SECONDS_TO_REACH)
            connection.sendall(_HTTP2)
            answer = connection.recv(9)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "nothing answers"
        raise AbsentError(f"There is no Ray cluster at “{address}”: {reason}.", hint) from None
    # A frame of settings is what every server of gRPC begins with.
    if len(answer) < 4 or answer[3] != 4:
        raise AbsentError(f"What answers at “{address}” is no Ray cluster.", hint)


def _words(address: str, error: BaseException) -> AbsentError:
    text = " ".join(str(error).split())
    if "Version mismatch" in text:
        return AbsentError(
            f"The Ray cluster at “{address}” is of another version. {text.rstrip('.')}.",
            "Install the same versions of Ray and of Python on this machine and on all of the cluster's.",
        )
    if address == "auto":
        return AbsentError(
            "This machine is part of no Ray cluster.",
            "Join one with `ray start --address HOST:PORT`, or name it: --executor ray:HOST:PORT.",
        )
    if address == "local":
        return AbsentError(f"Ray could not be started on this machine: {text[:500].rstrip('.')}.")
    reason = text if text and not isinstance(error, SystemExit) else "it does not answer as one"
    return AbsentError(
        f"The Ray cluster at “{address}” could not be joined: {reason[:500].rstrip('.')}.",
        "Start this on a machine of the cluster, and look there with `ray status`.",
    )


async def aside(work: Callable[[], _T], seconds: float) -> _T:
    """What ``work`` gives, from a thread that is left behind when it takes longer. Raises TimeoutError."""
    loop = asyncio.get_running_loop()
    given: asyncio.Future[_T] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if given.done():
            return
        if error is None:
            given.set_result(value)
        else:
            given.set_exception(error)

    def run() -> None:
        value: Any = None
        failure: BaseException | None = None
        try:
            value = work()
        except BaseException as error:
            failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, failure)

    Thread(target=run, name="rollout-ray", daemon=True).start()
    # wait_for would lose a cancellation that comes with the answer (until Python 3.12).
    async with asyncio.timeout(seconds):
        return await given


__all__ = ["Cluster", "LostError", "aside", "check_address", "join"]
