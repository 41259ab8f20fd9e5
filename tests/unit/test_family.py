"""Members of families are found by their names, by any number of threads at once."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

from rollout.family import member


def test_a_part_that_members_share_is_no_member_also_once_it_is_loaded() -> None:
    import_module("rollout.models._named")
    assert member("rollout.models", "_named") is None
    assert member("rollout.models", "-named") is None
    assert member("rollout.models", "noop") is import_module("rollout.models.noop")


def test_threads_that_load_the_same_members_at_once_all_get_them_whole() -> None:
    script = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
sys.setswitchinterval(1e-5)
from rollout.check.rulebook import LOOKING
from rollout.family import member, members
names, barrier = members(LOOKING), Barrier(8)
def load(_):
    barrier.wait()
    return [member(LOOKING, name).CODE for name in names]
with ThreadPoolExecutor(8) as threads:
    first, *others = threads.map(load, range(8))
assert all(other == first for other in others)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
