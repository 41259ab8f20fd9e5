"""An allow comment silences a rule only where it is a comment, and is judged only where its rule was looked at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rollout.check import check
from rollout.source import read

GOOD = Path(__file__).parents[2] / "cases" / "rules" / "uncounted-primitive" / "good-allowed"
UNCOUNTED = "{name: looked_up, type: tool_was_called, tool: get_order, weight: 0"
ALLOW = "# rollout: allow uncounted-primitive — why"


def slugs(tmp_path: Path, verifier: str, name: str = "verifier.yaml", **options: frozenset[str]) -> set[str]:
    folder = tmp_path / "refund"
    shutil.copytree(GOOD, folder)
    (folder / "verifier.yaml").unlink()
    (folder / name).write_text(verifier, encoding="utf-8")
    (document,) = read(folder)
    return {found.slug for found in check(document, **options).diagnostics}


def yaml(last: str) -> str:
    return f"primitives:\n  - {{name: refunded, type: ground_truth_match}}\n{last}\n"


BLOCK = """  - type: tool_was_called
    tool: get_order
    description: {sign}
      first
      {allow}
    weight: 0"""


@pytest.mark.parametrize(
    "last",
    [
        BLOCK.format(sign="|", allow=ALLOW),
        BLOCK.format(sign=">-", allow=ALLOW),
        f'  - {UNCOUNTED}, description: "a {ALLOW}"}}',
        f"  - {UNCOUNTED}, description: 'a {ALLOW}'}}",
        f'  - {UNCOUNTED}, description: "a\n     {ALLOW}"}}',
        f'  - description: "a\n      {ALLOW}"\n    {UNCOUNTED[1:].replace(", ", chr(10) + "    ")}',
        f'  - {UNCOUNTED}, "a {ALLOW}": 1}}',
    ],
)
def test_a_text_in_yaml_silences_nothing(tmp_path: Path, last: str) -> None:
    found = slugs(tmp_path, yaml(last))
    assert "uncounted-primitive" in found
    assert "unused-allowance" not in found


@pytest.mark.parametrize(
    "last",
    [
        f"  - {UNCOUNTED}}} {ALLOW}",
        f"  {ALLOW}\n  - {UNCOUNTED}}}",
        f'  - {UNCOUNTED}, description: "a # rollout: allow x"}} {ALLOW}',
        f'  - {UNCOUNTED}, description: "it\'s #"}} {ALLOW}',
        f'  - description: "a\n      # b"  # prose\n  {ALLOW}\n  - {UNCOUNTED}}}',
    ],
)
def test_a_comment_in_yaml_silences_its_rule(tmp_path: Path, last: str) -> None:
    found = slugs(tmp_path, yaml(last))
    assert not found & {"uncounted-primitive", "unused-allowance", "malformed-allowance"}


TOML = """[[primitives]]
name = "refunded"
type = "ground_truth_match"

[[primitives]]
name = "looked_up"
type = "tool_was_called"
tool = "get_order"
"""


@pytest.mark.parametrize(
    ("rest", "is_silent"),
    [
        (f'description = """\n{ALLOW}\nweight = 1"""\nweight = 0', False),
        (f"description = '''\n{ALLOW}\n'''\nweight = 0", False),
        (f'description = """a \\""" {ALLOW}\n{ALLOW}"""\nweight = 0', False),
        (f"{ALLOW}\nweight = 0", True),
        (f"weight = 0 {ALLOW}", True),
        (f'description = """"it\'s """"\n{ALLOW}\nweight = 0', True),
        (f'# it\'s """ prose\n{ALLOW}\nweight = 0', True),
    ],
)
def test_toml_tells_texts_and_comments_apart(tmp_path: Path, rest: str, is_silent: bool) -> None:
    found = slugs(tmp_path, f"{TOML}{rest}\n", "verifier.toml")
    assert ("uncounted-primitive" not in found) == is_silent
    assert "unused-allowance" not in found


def test_a_comment_behind_the_sign_of_a_block_is_one(tmp_path: Path) -> None:
    last = BLOCK.format(sign=f"| {ALLOW}", allow="second")
    assert "unused-allowance" in slugs(tmp_path, yaml(last))


def test_an_allowance_of_a_rule_that_was_left_out_is_not_judged(tmp_path: Path) -> None:
    last = f"  - {UNCOUNTED}}} {ALLOW}"
    assert slugs(tmp_path, yaml(last), ignore=frozenset({"uncounted-primitive"})) == set()
