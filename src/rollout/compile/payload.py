"""An environment to the platform's bytes: one meaning, one sequence of bytes, one digest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rollout.environment import Environment, Task, as_compiled
from rollout.language.canonical import digest, dump


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the platform is sent.

    ``environment`` is the body of ``POST /api/environments`` and ``verifier`` that of the verifier's ``PUT`` (None
    where the template's default judges). ``data`` is the compiled file: UTF-8 JSON of both, in canonical order,
    with a line break at its end. ``digest`` is ``sha256:…`` of ``data``.
    """

    environment: dict[str, Any]
    verifier: dict[str, Any] | None
    data: bytes
    digest: str


def compile_environment(environment: Environment) -> Compiled:
    """Compiles an environment: known keys in their published order, data sorted, nothing that is only local.

    ``id``, ``solution`` and ``x-…`` keys stay behind, and so does what says nothing: an empty input, description or
    seed, ``not: false`` and other switches that are off, a pass threshold of 1. A weight is always written.
    Raises ValueError for what cannot be said in JSON (NaN, a lone surrogate, a Python object), and where the
    template and ``config``, ``schema``, ``seed`` do not go together.
    """
    try:
        compiled = as_compiled(environment)
        payload = compiled.to_payload()
        data = b"".join(_chunks(payload, compiled.verifier))
    except (TypeError, AttributeError, KeyError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"“{environment.slug}” holds something that JSON cannot say: {error}.") from error
    return Compiled(payload, compiled.verifier, data, digest(data))


def environment_of(payload: Mapping[str, Any]) -> Environment:
    """The environment that a compiled file says: ``{"environment": {…}, "verifier": {…} | null}``.

    ``payload`` has the shape of ``payload.schema.json``; what it does not say (ids, solutions) is missing.
    """
    said = payload["environment"]
    return Environment(
        slug=said["slug"],
        name=said["name"],
        template=said["template"],
        description=said.get("description"),
        config=said.get("config"),
        schema=said.get("schema"),
        seed=said.get("seed"),
        verifier=payload.get("verifier"),
        tasks=[
            Task(
                task["instruction"],
                task.get("hiddenGroundTruth", {}),
                task.get("input"),
                task.get("split", "dev"),
            )
            for task in said["tasks"]
        ],
    )


def _chunks(payload: dict[str, Any], verifier: dict[str, Any] | None) -> Iterator[bytes]:
    # Task by task: a payload of 200,000 tasks as one string would need twice the memory.
    head = dump({key: value for key, value in payload.items() if key != "tasks"})
    yield b'{"environment":' + head[:-1] + b',"tasks":['
    for index, task in enumerate(payload["tasks"]):
        if index:
            yield b","
        yield dump(task)
    yield b']},"verifier":' + dump(verifier) + b"}\n"


__all__ = ["Compiled", "compile_environment", "environment_of"]
