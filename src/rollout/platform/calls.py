"""Every call of the platform: what is asked, and how its answer is read. Nothing here touches a network.

The paths and shapes are those that ``rolloutdev 0.2.0`` uses, and more that this version's server answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from rollout.platform import results
from rollout.platform.errors import RolloutError
from rollout.platform.shapes import AnswerError, expect

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """``read`` makes of the answer's JSON what the method gives; raises AnswerError where it is not as it should be.

    ``seconds`` is how long the other side may say nothing, ``in_all`` how long request and answer may take together.
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
    in_all: float = 60.0

    @property
    def is_safe(self) -> bool:
        """Whether a second time changes nothing."""
        return self.method in ("GET", "PUT", "DELETE")


Plan = Generator[Call[Any], Any, T]
"""Several calls, of which one may depend on the answer to another; it is sent what each of them reads."""

_SECONDS_TO_GENERATE = 1800.0
_SECONDS_TO_CARRY = 900.0
"""For what may be large: environments, and the rollouts of a run."""


def list_environments() -> Call[list[results.EnvironmentEntry]]:
    return Call("GET", "/api/environments", _member("environments", list[results.EnvironmentEntry]))


def get_environment(slug: str, digest: str | None = None) -> Call[results.Environment]:
    path, params = f"/api/environments/{_part(slug)}", _given(digest=digest)
    return Call("GET", path, _whole(results.Environment), params, in_all=_SECONDS_TO_CARRY)


def list_versions(slug: str) -> Call[list[results.Version]]:
    return Call(
        "GET", f"/api/environments/{_part(slug)}/versions", _member("versions", list[results.Version])
    )


def push_environment(payload: Mapping[str, Any], *, instead_of: str | None = None) -> Call[results.Pushed]:
    headers = {} if instead_of is None else {"If-Match": f'"{instead_of}"'}
    return Call(
        "POST",
        "/api/environments",
        _whole(results.Pushed),
        body=payload,
        headers=headers,
        in_all=_SECONDS_TO_CARRY,
    )


def push_verifier(slug: str, verifier: Mapping[str, Any]) -> Call[Any]:
    return Call("PUT", f"/api/environments/{_part(slug)}/verifier", _anything, body=verifier)


def list_runs(
    limit: int, *, environment: str | None = None, status: str | None = None
) -> Call[list[results.Run]]:
    def read(answer: Any) -> Any:
        found = [_run(each, f"runs[{place}]") for place, each in enumerate(_member("runs", list)(answer))]
        # Others than our own server send all that they have.
        return [
            run
            for run in found
            if environment in (None, run.get("environmentSlug", run.get("environmentName")))
            and status in (None, run.get("status"))
        ][:limit]

    params = _given(limit=limit, environment=environment, status=status)
    return Call("GET", "/api/runs", read, params, in_all=_SECONDS_TO_CARRY)


def create_run(
    env_slug: str,
    model: str,
    n: int,
    temperature: float | None,
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
    return Call("POST", "/api/runs", _whole(results.CreatedRun), body=body)


def get_run(run_id: str) -> Call[results.Run]:
    return Call("GET", f"/api/runs/{_part(run_id)}", _the_run)


def path_of_events(run_id: str) -> str:
    """Where the events of a run are."""
    return f"/api/runs/{_part(run_id)}/events"


def get_run_with_rollouts(run_id: str, *, outcome: str | None = None) -> Plan[results.RunWithRollouts]:
    """The run with all its rollouts, page by page where the server has pages."""
    path, found = f"/api/runs/{_part(run_id)}", None
    cursor: str | None = None
    while found is None or cursor:
        params = _given(include="rollouts", cursor=cursor, outcome=outcome)
        page: results.RunWithRollouts = yield Call(
            "GET", path, _page_after(cursor), params, in_all=_SECONDS_TO_CARRY
        )
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
    return Call("GET", f"/api/runs/{_part(run_id)}/rollouts/{_part(rollout_id)}", _the_rollout)


def cancel_run(run_id: str) -> Call[results.Run]:
    return Call("POST", f"/api/runs/{_part(run_id)}/cancel", _the_run)


def resume_run(run_id: str) -> Call[results.Run]:
    return Call("POST", f"/api/runs/{_part(run_id)}/resume", _the_run)


def list_training_jobs() -> Call[list[results.TrainingJob]]:
    def read(answer: Any) -> Any:
        return [_job(each, f"jobs[{place}]") for place, each in enumerate(_member("jobs", list)(answer))]

    return Call("GET", "/api/training-jobs", read)


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
    return Call("POST", "/api/training-jobs", _begun_job, body=body)


def get_training_job(job_id: str) -> Call[results.TrainingJob]:
    return Call("POST", f"/api/training-jobs/{_part(job_id)}/refresh", _the_job)


def generate_environment(
    description: str, template: str, model: str | None, max_cost: float | None
) -> Call[dict[str, Any]]:
    body = _given(description=description, template=template, model=model, maxCost=max_cost)
    return _writing("/api/environments/generate", body)


def refine_environment(
    current: Mapping[str, Any], instruction: str, template: str, model: str | None, max_cost: float | None
) -> Call[dict[str, Any]]:
    body = _given(template=template, current=current, instruction=instruction, model=model, maxCost=max_cost)
    return _writing("/api/environments/generate/refine", body)


def _writing(path: str, body: Any) -> Call[dict[str, Any]]:
    seconds = _SECONDS_TO_GENERATE
    return Call("POST", path, _object, body=body, seconds=seconds, in_all=seconds)


def whoami() -> Call[results.Whoami]:
    return Call("GET", "/api/whoami", _whole(results.Whoami))


def list_keys() -> Call[list[results.Key]]:
    return Call("GET", "/api/keys", _member("keys", list[results.Key]))


def create_key(name: str, scope: str) -> Call[results.Key]:
    return Call("POST", "/api/keys", _whole(results.Key), body={"name": name, "scope": scope})


def revoke_key(key_id: str) -> Call[Any]:
    return Call("DELETE", f"/api/keys/{_part(key_id)}", _anything)


def _part(text: str) -> str:
    """One part of a path. ``.`` and ``..`` would be taken for steps, and nothing for the list above it."""
    if text in ("", ".", ".."):
        raise RolloutError(
            0, f"“{text}” is no name.", hint="“rollout runs” and “rollout envs” list what there is."
        )
    return quote(text, safe="")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _anything(answer: Any) -> Any:
    return answer


def _object(answer: Any) -> Any:
    expect(answer, dict, "")
    return answer


def _whole(kind: Any) -> Callable[[Any], Any]:
    def read(answer: Any) -> Any:
        expect(answer, kind, "")
        return answer

    return read


def _member(name: str, kind: Any) -> Callable[[Any], Any]:
    def read(answer: Any) -> Any:
        value = answer.get(name) if isinstance(answer, dict) else None
        if value is None:
            raise AnswerError(f"“{name}” was expected in it")
        expect(value, kind, name)
        return value

    return read


def read_run(run: Any) -> results.Run:
    """The run that an event tells of. Raises AnswerError."""
    told: results.Run = _run(run, "")
    return told


def read_rollout(rollout: Any) -> results.Rollout:
    """The rollout that an event tells of. Raises AnswerError."""
    told: results.Rollout = _rollout(rollout, "")
    return told


def _run(run: Any, place: str) -> Any:
    return _shaped(run, results.Run, place, successRate=None)


def _the_run(answer: Any) -> Any:
    return _run(_member("run", dict)(answer), "run")


def _rollout(rollout: Any, place: str, kind: Any = results.Rollout) -> Any:
    return _shaped(rollout, kind, place, passed=None, score=None)


def _the_rollout(answer: Any) -> Any:
    return _rollout(_member("rollout", dict)(answer), "rollout", results.RolloutWithTrace)


def _job(job: Any, place: str) -> Any:
    return _shaped(job, results.TrainingJob, place, hyperparams={})


def _the_job(answer: Any) -> Any:
    return _job(_member("job", dict)(answer), "job")


def _begun_job(answer: Any) -> Any:
    _member("id", str)(answer)
    return answer


def _shaped(value: Any, kind: Any, place: str, **missing: Any) -> Any:
    """The value, where it is of that kind when what it may leave out is taken for what ``missing`` says."""
    told = {**missing, **value} if isinstance(value, dict) else value
    expect(told, kind, place)
    return told


def _page_after(cursor: str | None) -> Callable[[Any], results.RunWithRollouts]:
    """Reads a run with a page of its rollouts; one that says that it comes after itself has no end."""

    def read(answer: Any) -> results.RunWithRollouts:
        run = _the_run(answer)
        rollouts = answer.get("rollouts") or []
        expect(rollouts, list, "rollouts")
        following = answer.get("nextCursor")
        expect(following, str | None, "nextCursor")
        if following and (following == cursor or not rollouts):
            raise AnswerError("“nextCursor” was expected to lead on")
        told = [_rollout(each, f"rollouts[{place}]") for place, each in enumerate(rollouts)]
        return {"run": run, "rollouts": told, "nextCursor": following}

    return read
