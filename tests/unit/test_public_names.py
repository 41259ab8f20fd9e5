"""What `from rollout import …` offers, and how each is called: frozen, as people's files depend on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import rollout

PUBLISHED = {
    "AsyncClient": "(api_key=None, endpoint=None)",
    "Client": "(api_key=None, endpoint=None)",
    "Environment": "(slug, name, template, tasks=…, description=None, schema=None, seed=None, config=None"
    ", *, verifier=None, dialect=None, now=None, read_only=True, folder=None)",
    "RolloutError": "(status, message, body=None, *, hint=None)",
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
    return signature(getattr(rollout, name))


def signature(called: Callable[..., Any]) -> str:
    found = inspect.signature(called)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    text = str(inspect.Signature(bare))
    return text.replace("<factory>", "…")


def test_the_public_names_are_these_and_sorted() -> None:
    assert rollout.__all__ == sorted(PUBLISHED)


def test_every_public_name_is_called_as_published() -> None:
    assert {name: signature_of(name) for name in rollout.__all__} == PUBLISHED


def test_the_client_has_the_methods_that_are_published() -> None:
    published = {
        "create_run": "(self, env_slug, model, n=1, temperature=0.7, max_tool_calls=20, name=None"
        ", parent_run_id=None, **more)",
        "create_training_job": "(self, source_run_id, rollout_ids, base_model, method='sft', suffix=None"
        ", hyperparams=None)",
        "generate_environment": "(self, description, template, model=None, *, max_cost=None)",
        "get_environment": "(self, slug, *, digest=None)",
        "get_rollouts": "(self, run_id, *, outcome=None)",
        "get_run": "(self, run_id, include_rollouts=False)",
        "get_training_job": "(self, job_id)",
        "list_environments": "(self)",
        "list_runs": "(self, limit=20, *, environment=None, status=None)",
        "list_training_jobs": "(self)",
        "passing_rollout_ids": "(self, run_id)",
        "push_environment": "(self, payload, *, instead_of=None)",
        "refine_environment": "(self, current, instruction, template, model=None, *, max_cost=None)",
    }
    for client in (rollout.Client, rollout.AsyncClient):
        assert {name: signature(getattr(client, name)) for name in published} == published
    own = {name for name in dir(rollout.Client) if not name.startswith("_")} - {"close"}
    assert own == {name for name in dir(rollout.AsyncClient) if not name.startswith("_")} - {"close"}


def test_an_environment_pushes_itself_as_published() -> None:
    assert signature(rollout.Environment.push) == "(self, client=None)"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(rollout, "workflow_confg")


def test_task_from_jsonl_takes_a_path() -> None:
    assert list(inspect.signature(rollout.Task.from_jsonl).parameters) == ["path"]
