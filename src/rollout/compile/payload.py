"""An environment to the platform's bytes: one meaning, one sequence of bytes, one digest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rollout.compile.key_order import layout
from rollout.environment import Environment, Task
from rollout.language.canonical import digest, dump, whole_numbers


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
        payload = _payload(environment)
        verifier = None if environment.verifier is None else _verifier(environment.verifier)
        data = b"".join(_chunks(payload, verifier))
    except (TypeError, AttributeError, KeyError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"“{environment.slug}” holds something that JSON cannot say: {error}.") from error
    return Compiled(payload, verifier, data, digest(data))


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


def plain_text(text: str) -> str:
    """A description or SQL as the format means it: ``\\n`` ends a line, and line breaks at the end do not count."""
    return text.rstrip("\r\n").replace("\r\n", "\n")


def _payload(environment: Environment) -> dict[str, Any]:
    # Checks that the template and its parts go together, in the words that Python authors get.
    given = environment.to_payload()
    payload: dict[str, Any] = {key: given[key] for key in ("slug", "name", "template")}
    if description := plain_text(given.get("description") or ""):
        payload["description"] = description
    if "config" in given:
        payload["config"] = layout(environment.template).arrange(given["config"])
    else:
        payload["schema"] = plain_text(given["schema"])
        if seed := plain_text(given.get("seed") or ""):
            payload["seed"] = seed
    payload["tasks"] = [_task(task) for task in environment.tasks]
    return payload


def _task(task: Task) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "instruction": task.instruction,
        "hiddenGroundTruth": whole_numbers(task.hidden_ground_truth),
        "split": task.split,
    }
    if task.input:
        payload["input"] = whole_numbers(task.input)
    return payload


def _verifier(verifier: dict[str, Any]) -> dict[str, Any]:
    shape = layout("verifier")
    arranged = _without_defaults(shape.arrange(verifier), shape.defaults)
    defaults = {
        key: value for key, value in shape.keys["primitives"].items.defaults.items() if key != "weight"
    }
    arranged["primitives"] = [_primitive(each, defaults) for each in arranged["primitives"]]
    return arranged


def _primitive(primitive: dict[str, Any], defaults: dict[str, bool | int | float]) -> dict[str, Any]:
    head: dict[str, Any] = {key: primitive[key] for key in ("name", "type") if key in primitive}
    head["weight"] = primitive.get("weight", 1)
    return head | _without_defaults(primitive, defaults)


def _without_defaults(value: dict[str, Any], defaults: dict[str, bool | int | float]) -> dict[str, Any]:
    def says_nothing(key: str) -> bool:
        default = defaults.get(key)
        return isinstance(value[key], bool) == isinstance(default, bool) and value[key] == default

    return {key: value[key] for key in value if key not in defaults or not says_nothing(key)}


def _chunks(payload: dict[str, Any], verifier: dict[str, Any] | None) -> Iterator[bytes]:
    # Task by task: a payload of 200,000 tasks as one string would need twice the memory.
    head = dump({key: value for key, value in payload.items() if key != "tasks"})
    yield b'{"environment":' + head[:-1] + b',"tasks":['
    for index, task in enumerate(payload["tasks"]):
        if index:
            yield b","
        yield dump(task)
    yield b']},"verifier":' + dump(verifier) + b"}\n"


__all__ = ["Compiled", "compile_environment", "environment_of", "plain_text"]
