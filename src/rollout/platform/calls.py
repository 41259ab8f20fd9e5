"""Every call of the platform: what is asked, and how its answer is read. Nothing here touches a network.

The paths and shapes are those that ``rolloutdev 0.2.0`` uses, and more that this version's server answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

from rollout.platform import results
from rollout.platform.errors import RolloutError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """``read`` makes of the answer's JSON what the method gives. ``seconds`` is how long an answer may take.

    ``is_safe`` says that it may be sent twice. What may not is given a name (``Idempotency-Key``), by which our own
    server answers a second time what it did the first; others do not know it.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 60.0

    @property
    def is_safe(self) -> bool:
        """Whether a second time changes nothing."""
        return self.method in ("GET", "PUT", "DELETE")


Plan = Generator[Call[Any], Any, T]
"""Several calls, of which one may depend on the answer to another; it is sent what each of them reads."""

_SECONDS_TO_GENERATE = 1800.0


def list_environments() -> Call[list[results.EnvironmentEntry]]:
    return Call("GET", "/api/environments", _member("environments", list))


def get_environment(slug: str, digest: str | None = None) -> Call[results.Environment]:
    return Call("GET", f"/api/environments/{_part(slug)}", _object, _given(digest=digest))


def list_versions(slug: str) -> Call[list[results.Version]]:
    return Call("GET", f"/api/environments/{_part(slug)}/versions", _member("versions", list))


def push_environment(payload: Mapping[str, Any], *, instead_of: str | None = None) -> Call[results.Pushed]:
    headers = {} if instead_of is None else {"If-Match": f'"{instead_of}"'}
    return Call("POST", "/api/environments", _object, body=payload, headers=headers)


def push_verifier(slug: str, verifier: Mapping[str, Any]) -> Call[Any]:
    return Call("PUT", f"/api/environments/{_part(slug)}/verifier", _anything, body=verifier)


def list_runs(
    limit: int, *, environment: str | None = None, status: str | None = None
) -> Call[list[results.Run]]:
    def read(answer: Any) -> Any:
        found = _member("runs", list)(answer)
        # Others than our own server send all that they have.
        return [
            run
            for run in found
            if environment in (None, run.get("environmentSlug", run.get("environmentName")))
            and status in (None, run.get("status"))
        ][:limit]

    return Call("GET", "/api/runs", read, _given(limit=limit, environment=environment, status=status))


def create_run(
    env_slug: str,
    model: str,
    n: int,
    temperature: float,
    max_tool_calls: int,
    name: str | None,
    parent_run_id: str | None,
    more: Mapping[str, Any],
) -> Call[results.CreatedRun]:
    body = {
        "environmentSlug": env_slug,
        "model": model,
        "n": n,
        "temperature": temperature,
        "maxToolCalls": max_tool_calls,
        **_given(name=name or None, parentRunId=parent_run_id or None, **more),
    }
    return Call("POST", "/api/runs", _object, body=body)


def get_run(run_id: str) -> Call[results.Run]:
    return Call("GET", f"/api/runs/{_part(run_id)}", _member("run", dict))


def path_of_events(run_id: str) -> str:
    """Where the events of a run are."""
    return f"/api/runs/{_part(run_id)}/events"


def get_run_with_rollouts(run_id: str, *, outcome: str | None = None) -> Plan[results.RunWithRollouts]:
    """The run with all its rollouts, page by page where the server has pages."""
    found: results.RunWithRollouts | None = None
    cursor = None
    while found is None or cursor:
        params = _given(include="rollouts", cursor=cursor, outcome=outcome)
        page = yield Call("GET", f"/api/runs/{_part(run_id)}", _run_with_rollouts, params)
        cursor = page.pop("nextCursor", None)
        if found is None:
            found = page
        else:
            found["rollouts"] += page["rollouts"]
    return found


def get_run_in_full(run_id: str, include_rollouts: bool) -> Plan[dict[str, Any]]:
    """As the published client has it: ``{"run": …}``, and its ``rollouts`` where they are asked for."""
    if include_rollouts:
        return dict((yield from get_run_with_rollouts(run_id)))
    return {"run": (yield get_run(run_id))}


def get_rollouts(run_id: str, *, outcome: str | None = None) -> Plan[list[results.Rollout]]:
    """The rollouts of a run; those of an outcome, also where the server does not choose."""
    found = yield from get_run_with_rollouts(run_id, outcome=outcome)
    return [each for each in found["rollouts"] if outcome in (None, each.get("outcome", outcome))]


def passing_rollout_ids(run_id: str) -> Plan[list[str]]:
    """The ids of the rollouts that passed."""
    found = yield from get_run_with_rollouts(run_id)
    return [each["id"] for each in found["rollouts"] if each.get("passed") is True]


def get_rollout(run_id: str, rollout_id: str) -> Call[results.RolloutWithTrace]:
    return Call("GET", f"/api/runs/{_part(run_id)}/rollouts/{_part(rollout_id)}", _member("rollout", dict))


def cancel_run(run_id: str) -> Call[results.Run]:
    return Call("POST", f"/api/runs/{_part(run_id)}/cancel", _member("run", dict))


def resume_run(run_id: str) -> Call[results.Run]:
    return Call("POST", f"/api/runs/{_part(run_id)}/resume", _member("run", dict))


def list_training_jobs() -> Call[list[results.TrainingJob]]:
    return Call("GET", "/api/training-jobs", _member("jobs", list))


def create_training_job(
    source_run_id: str,
    rollout_ids: Sequence[str],
    base_model: str,
    method: str,
    suffix: str | None,
    hyperparams: Mapping[str, Any] | None,
) -> Call[dict[str, Any]]:
    body = {
        "sourceRunId": source_run_id,
        "rolloutIds": list(rollout_ids),
        "baseModel": base_model,
        "method": method,
        **_given(suffix=suffix or None, hyperparams=dict(hyperparams) if hyperparams else None),
    }
    return Call("POST", "/api/training-jobs", _object, body=body)


def get_training_job(job_id: str) -> Call[results.TrainingJob]:
    return Call("POST", f"/api/training-jobs/{_part(job_id)}/refresh", _member("job", dict))


def generate_environment(
    description: str, template: str, model: str | None, max_cost: float | None
) -> Call[dict[str, Any]]:
    body = _given(description=description, template=template, model=model, maxCost=max_cost)
    return Call("POST", "/api/environments/generate", _object, body=body, seconds=_SECONDS_TO_GENERATE)


def refine_environment(
    current: Mapping[str, Any], instruction: str, template: str, model: str | None, max_cost: float | None
) -> Call[dict[str, Any]]:
    body = _given(template=template, current=current, instruction=instruction, model=model, maxCost=max_cost)
    return Call("POST", "/api/environments/generate/refine", _object, body=body, seconds=_SECONDS_TO_GENERATE)


def whoami() -> Call[results.Whoami]:
    return Call("GET", "/api/whoami", _object)


def list_keys() -> Call[list[results.Key]]:
    return Call("GET", "/api/keys", _member("keys", list))


def create_key(name: str, scope: str) -> Call[results.Key]:
    return Call("POST", "/api/keys", _object, body={"name": name, "scope": scope})


def revoke_key(key_id: str) -> Call[Any]:
    return Call("DELETE", f"/api/keys/{_part(key_id)}", _anything)


class AnswerError(ValueError):
    """An answer that has not the shape it should have."""


def _part(text: str) -> str:
    """One part of a path. ``.`` and ``..`` would be taken for steps, and nothing for the list above it."""
    if text in ("", ".", ".."):
        raise RolloutError(0, f"“{text}” is no name.")
    return quote(text, safe="")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _anything(answer: Any) -> Any:
    return answer


def _object(answer: Any) -> Any:
    if not isinstance(answer, dict):
        raise AnswerError("an object was expected")
    return answer


def _member(name: str, kind: type) -> Callable[[Any], Any]:
    def read(answer: Any) -> Any:
        value = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(value, kind):
            raise AnswerError(f"“{name}” was expected in it")
        return value

    return read


def _run_with_rollouts(answer: Any) -> results.RunWithRollouts:
    _member("run", dict)(answer)
    rollouts: Sequence[Any] = answer.setdefault("rollouts", [])
    if not isinstance(rollouts, list):
        raise AnswerError("“rollouts” was expected to be a list")
    return cast(results.RunWithRollouts, answer)
