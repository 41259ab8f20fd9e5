"""A Ray cluster on this machine, each of whose nodes is a raylet with its workers, and can be killed as one.

The cluster lives in a process of its own, which is told in lines of JSON on its standard input and answers in kind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_STORE = 80 * 1024 * 1024
_NOTICES_SOON = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}


class RayCluster:
    """A head without processors, and the nodes that are added. ``address`` is where drivers join it."""

    def __enter__(self) -> RayCluster:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        told = self._read()
        self.address: str = told["address"]
        self.session = Path(told["session"])
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def add(self, processors: int, *, path: Path | None = None) -> int:
        """Adds a node; ``path`` is where its workers look for modules first. Gives its number."""
        told = self._ask("add", processors=processors, path=None if path is None else str(path))
        return int(told["node"])

    def workers(self, node: int) -> list[int]:
        """The processes of a node in which rollouts are done."""
        return list(self._ask("workers", node=node)["pids"])

    def kill(self, node: int) -> None:
        """Kills a node with all that it has started, as when a machine loses its power."""
        self._ask("kill", node=node)

    def kill_head(self) -> None:
        """Kills the head."""
        self._ask("kill_head")

    def pretend(self, ray_version: str) -> None:
        """Makes the cluster say that it is of another version of Ray."""
        self._ask("pretend", ray_version=ray_version)

    def _ask(self, what: str, **more: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"what": what, **more}) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith('{"cluster": '):
                return json.loads(line)["cluster"]
        raise AssertionError("The cluster has ended.")


class _Nodes:
    """What runs in the process of the cluster."""

    def __init__(self) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        from ray.cluster_utils import Cluster

        head = {
            "num_cpus": 0,
            "object_store_memory": _STORE,
            "include_dashboard": False,
            "_system_config": _NOTICES_SOON,
        }
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes: list[Any] = []

    def add(self, processors: int, path: str | None) -> Any:
        before = os.environ.pop("PYTHONPATH", None)
        if path is not None:
            os.environ["PYTHONPATH"] = path
        self.nodes.append(self.cluster.add_node(num_cpus=processors, object_store_memory=_STORE))
        os.environ.pop("PYTHONPATH", None)
        if before is not None:
            os.environ["PYTHONPATH"] = before
        return {"node": len(self.nodes) - 1}

    def workers(self, node: int) -> Any:
        below = (each for root in self._roots(self.nodes[node]) for each in _below(root))
        return {"pids": sorted(each for each in below if _title(each).startswith("ray::Worker"))}

    def kill(self, node: int) -> Any:
        self._kill(self.nodes[node])
        return {}

    def kill_head(self) -> Any:
        self._kill(self.cluster.head_node)
        return {}

    def pretend(self, ray_version: str) -> Any:
        from ray._raylet import GcsClient

        client = GcsClient(address=self.cluster.address)
        key, space = b"CLUSTER_METADATA", b"cluster"
        told = json.loads(client.internal_kv_get(key, space))
        client.internal_kv_put(key, json.dumps({**told, "ray_version": ray_version}).encode(), True, space)
        return {}

    def end(self) -> None:
        for node in [*self.nodes, self.cluster.head_node]:
            self._kill(node)
        with suppress(Exception):
            self.cluster.shutdown()

    def _kill(self, node: Any) -> None:
        roots = self._roots(node)
        for pid in [*roots, *(each for root in roots for each in _below(root))]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _roots(self, node: Any) -> list[int]:
        return [each.process.pid for kind in node.all_processes.values() for each in kind]


def _below(pid: int) -> list[int]:
    """All processes that ``pid`` has started, and those have."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, path.read_text().split()):
                found += [child, *_below(child)]
    return found


def _title(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def main() -> None:
    """Does what it is told until its input ends."""
    nodes = _Nodes()
    session = nodes.cluster.head_node.get_session_dir_path()
    _tell({"address": nodes.cluster.address, "session": session})
    try:
        for line in sys.stdin:
            told = json.loads(line)
            _tell(getattr(nodes, told.pop("what"))(**told))
    finally:
        nodes.end()


def _tell(value: Any) -> None:
    sys.stdout.write(json.dumps({"cluster": value}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
