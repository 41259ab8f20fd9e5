"""What `from rollout import …` offers, and how each is called: frozen, as people's files depend on it."""

from __future__ import annotations

import inspect

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
    "custom_tool": "(name, *, description, params_schema=None, response=None, mutates=None)",
    "lookup_tool": "(name, *, from_array, match_field, description, params_schema=None)",
    "mock_tool": "(name, *, description, response=None, params_schema=None)",
    "primitive": "(name, type, **kwargs)",
    "verifier_config": "(*primitives)",
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


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(rollout, "workflow_confg")


def test_task_from_jsonl_takes_a_path() -> None:
    assert list(inspect.signature(rollout.Task.from_jsonl).parameters) == ["path"]
