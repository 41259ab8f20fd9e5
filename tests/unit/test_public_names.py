"""What `from rollout import …` offers, and how each is called: frozen, as people's files depend on it."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import rollout

PUBLISHED = {
    "Environment": "(slug, name, template, tasks=…, description=None, schema=None, seed=None, config=None"
    ", *, verifier=None, dialect=None, now=None, read_only=True, folder=None)",
    "Task": "(instruction, hidden_ground_truth=…, input=None, split='dev', *, id=None, solution=None)",
    "action_tool": "(name, *, state_array, description, params_schema=None)",
    "browser_config": "(*, initial_url, pages, description=None)",
    "browser_page": "(url, *, title, elements)",
    "code_editing_config": "(*, files, description=None)",
    "custom_config": "(*, tools, initial_state=None, description=None)",
    "custom_tool": "(name, *, description, params_schema=None, response=None, mutates=None"
    ", vars=None, cases=None)",
    "lookup_tool": "(name, *, from_array, match_field, description, params_schema=None)",
    "mock_tool": "(name, *, description, response=None, params_schema=None)",
    "primitive": "(name, type, **kwargs)",
    "verifier_config": "(*primitives, pass_threshold=None)",
    "workflow_config": "(*, tools, fixtures=None, initial_mutable_state=None, description=None)",
}


def signature_of(name: str) -> str:
    signature = inspect.signature(getattr(rollout, name))
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    text = str(inspect.Signature(bare))
    return text.replace("<factory>", "…")


def test_the_public_names_are_these_and_sorted() -> None:
    assert rollout.__all__ == sorted(PUBLISHED)


def test_every_public_name_is_called_as_published() -> None:
    assert {name: signature_of(name) for name in rollout.__all__} == PUBLISHED


@pytest.mark.parametrize("name", ["Client", "RolloutError"])
def test_a_name_that_asks_the_platform_says_where_it_is(name: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", f"from rollout import {name}"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"ImportError: {name} is not part of rollout {rollout.__version__} yet: it comes with the platform part. "
        "Until then it is in 0.2.0; put that into a virtual environment of its own: pip install 'rolloutdev==0.2.0'"
    )


def test_an_environment_cannot_be_pushed_yet_and_says_so() -> None:
    environment = rollout.Environment("a", "A", "custom")
    with pytest.raises(
        AttributeError, match=r"^Environment.push is not part of rollout .* 'rolloutdev==0.2.0'"
    ):
        environment.push()
    assert not hasattr(environment, "push")


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(rollout, "workflow_confg")


def test_task_from_jsonl_takes_a_path() -> None:
    assert list(inspect.signature(rollout.Task.from_jsonl).parameters) == ["path"]
