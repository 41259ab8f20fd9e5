"""A Python file that calls rollout's own functions wrongly is told how they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollout.check import check
from rollout.source import read_one


@pytest.mark.parametrize(
    ("call", "help"),
    [
        ('lookup_tool("a", fromArray="b")', "Did you mean “from_array”?"),
        ('primitive("outcome")', "Write primitive(…, type=…)."),
        ('action_tool("a", state_array="b")', "Write action_tool(…, description=…)."),
        ("browser_page()", "Write browser_page(…, url=…)."),
        ('browser_page("/")', "Write browser_page(…, title=…, elements=…)."),
        ('Environment("a", "A")', "Write Environment(…, template=…)."),
        ("len()", "The file is run to read it: see that it runs by itself, with Python, without an error."),
    ],
)
def test_the_way_out_names_the_argument(call: str, help: str, tmp_path: Path) -> None:
    path = tmp_path / "envs.py"
    path.write_text(f"from rollout import *\nenv = {call}\n", encoding="utf-8")
    [found] = check(read_one(path)).diagnostics
    assert found.slug == "python-file-failed"
    assert found.hint == help
