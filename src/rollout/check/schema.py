"""Holds documents and tasks against the schemas: a compiled validator for what is right, facts for what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from rollout.check.shape import Shape, ShapeFault
from rollout.check.subject import Subject
from rollout.source.contract import schema, schema_names
from rollout.source.place import Route

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator


MOST = 1000
"""So many errors of one value are explained."""

_FEW = 32
"""Of more parts than that, the slow validator looks only at those that the compiled one refuses."""


def shape_findings(subject: Subject) -> list[ShapeFault]:
    """What is wrong with the shape of a document, its tasks aside; routes start at its root."""
    document = subject.document
    value = {key: each for key, each in document.value.items() if key != "tasks"}
    required = _required(subject, value)
    if not required and is_sound("environment", value):
        return []
    found = _by_likely_template(value, faults("environment", value, required=required))
    return [fault for fault in found if not _is_unread(fault, document.unread)]


def _by_likely_template(value: dict[str, Any], found: list[ShapeFault]) -> list[ShapeFault]:
    """``found``, or one fault of the template where what it decides about is plainly of another.

    Plainly is: two faults or more say that something goes with that other template, and there it has at most a
    quarter of the faults. Those that are left there are told as well.
    """
    votes = Counter(name for fault in found if (name := _other_template(fault)) is not None)
    for name, count in votes.most_common(1):
        others = faults("environment", {**value, "template": name})
        before, after = (sum(map(_is_of_template, each)) for each in (found, others))
        if count >= 2 and after <= before / 4:
            moved = [fault for fault in found if _other_template(fault)]
            facts = {
                "template": value["template"],
                "likely": name,
                "signs": list(dict.fromkeys(str(fault.route[-1]) for fault in moved)),
                "part": "config" if any(fault.route[0] == "config" for fault in moved) else "environment",
            }
            return [ShapeFault("wrong-template", ("template",), "value", facts), *others]
    return found


def _is_of_template(fault: ShapeFault) -> bool:
    """Whether a fault is of what the template decides about: the config, or the database in its place."""
    return bool(fault.route) and fault.route[0] in ("config", *schema("sql")["properties"])


def _other_template(fault: ShapeFault) -> str | None:
    """The one template that a fault says what is at fault goes with."""
    if not _is_of_template(fault):
        return None
    if fault.slug == "misplaced-key" and fault.facts.get("chooser") == "template":
        values = fault.facts["values"]
        return str(values[0]) if len(values) == 1 else None
    goes_with = fault.facts.get("elsewhere", {}).get(str(fault.facts.get("found")), "")
    return goes_with.removeprefix("template: ") if goes_with.startswith("template: ") else None


def task_validator() -> Callable[[dict[str, Any]], bool]:
    """The compiled check of one task: a function that says whether its shape is right, in about a microsecond."""
    is_valid = _validator("task").is_valid

    def is_task(value: dict[str, Any]) -> bool:
        try:
            return is_valid(value)
        except ValueError:
            # A key that is no text, or a nesting past the validator's bound.
            return False

    return is_task


def tasks_validator() -> Callable[[list[dict[str, Any]]], bool]:
    """The same for many tasks in one go, which costs less than one by one."""
    is_valid = _list_validator("task").is_valid

    def are_tasks(values: list[dict[str, Any]]) -> bool:
        try:
            return is_valid(values)
        except ValueError:
            return False

    return are_tasks


def task_shape(value: Any) -> list[ShapeFault]:
    """What is wrong with the shape of one task; routes start at the task. Empty exactly where the validator agrees."""
    return faults("task", value)


def is_sound(name: str, value: Any) -> bool:
    """Whether ``value`` satisfies the schema called ``name``."""
    try:
        return _validator(name).is_valid(value)
    except ValueError:
        return False


def faults(
    name: str, value: Any, *, required: dict[Route, list[str]] | None = None, most: int = MOST
) -> list[ShapeFault]:
    """What is wrong with ``value`` by the schema called ``name``, one fault a defect; empty when nothing is.

    ``required`` names, by object, keys that must be there besides those that the schema requires. After ``most`` errors
    it is looked no further: a file of another kind has as many as it has lines.
    """
    if not required and is_sound(name, value):
        return []
    found = explain(name, value, required=required, most=most)
    if found or is_sound(name, value):
        return found
    # The two validators disagree. The compiled one is believed, so that nothing unsound passes.
    return list(_unexplained(name, value))


def explain(
    name: str, value: Any, *, required: dict[Route, list[str]] | None = None, most: int = MOST
) -> list[ShapeFault]:
    """The same as :func:`faults`, from the slow validator alone, which knows what is wrong and not only that it is."""
    errors = islice(_explainer(name).iter_errors(value), most)
    return Shape(name, value, most=most).faults(errors, required=required)


def _required(subject: Subject, value: dict[str, Any]) -> dict[Route, list[str]]:
    # The schemas cannot say this: in one file of several, the key may live in a sibling.
    if subject.template is None:
        return {}
    key = "schema" if subject.template == "sql" else "config"
    if key not in value:
        return {} if key in subject.document.unread else {(): [key]}
    config = value.get("config")
    if not isinstance(config, dict):
        return {}
    properties = schema(subject.template)["properties"]
    missing = [name for name, told in properties.items() if "x-required" in told and name not in config]
    return {("config",): missing} if missing else {}


def _is_unread(fault: ShapeFault, unread: frozenset[str]) -> bool:
    """Whether a key is missing only because its file could not be read."""
    if fault.slug != "missing-key" or not unread:
        return False
    if not fault.route:
        return unread.issuperset(fault.facts["keys"])
    return fault.route[0] in unread and len(fault.route) == 1


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(schema(name), retriever=_retrieve)


@cache
def _list_validator(name: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"items": {"$ref": schema(name)["$id"]}}, retriever=_retrieve)


def _retrieve(uri: str) -> Any:
    return schema(uri.rpartition("/")[2].removesuffix(".schema.json"))


@cache
def _explainer(name: str) -> Any:
    import math
    import re

    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema._utils import find_additional_properties
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    def matches(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        # In Python “$” also matches before a last line break; in JSON Schema's dialect it does not.
        exact = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
        if isinstance(instance, str) and not re.search(exact, instance):
            yield ValidationError(f"does not match {pattern}")

    def members_of(
        validator: Any, told: dict[str, Any], instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        if not isinstance(instance, dict):
            return
        for key, subschema in told.items():
            if key not in instance:
                continue
            if subschema is False:
                # The library's own error for a schema that is false has lost the key.
                yield ValidationError("is refused", validator="refused", path=(key,), instance=instance[key])
            else:
                yield from validator.descend(instance[key], subschema, path=key, schema_path=key)

    def items_of(validator: Any, told: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, list):
            for index, item in _unsound(enumerate(instance), len(instance), told):
                yield from validator.descend(item, told, path=index)

    def others_of(validator: Any, told: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(instance, dict):
            return
        extra = find_additional_properties(instance, schema)
        if told is False:
            # The library's own error names all of them, which may be many.
            if next(extra, None) is not None:
                yield ValidationError("has other keys")
        elif told is not True:
            for key, value in _unsound(((key, instance[key]) for key in extra), len(instance), told):
                yield from validator.descend(value, told, path=key)

    def names_of(validator: Any, told: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            for key, _ in _unsound(((key, key) for key in instance), len(instance), told):
                yield from validator.descend(key, told)

    def is_number(checker: Any, instance: Any) -> bool:
        if isinstance(instance, bool):
            return False
        return isinstance(instance, int) or (isinstance(instance, float) and math.isfinite(instance))

    strict: Any = extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        {
            "pattern": matches,
            "properties": members_of,
            "items": items_of,
            "additionalProperties": others_of,
            "propertyNames": names_of,
        },
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", is_number),
    )
    # Without “$schema”: the library would go on with its own class wherever a file names its dialect.
    bare = {
        each: {key: told for key, told in schema(each).items() if key != "$schema"} for each in schema_names()
    }
    files = [(told["$id"], DRAFT202012.create_resource(told)) for told in bare.values() if "$id" in told]
    return strict(bare[name], registry=Registry().with_resources(files))


def _unsound(parts: Iterable[tuple[Any, Any]], amount: int, told: Any) -> Iterator[tuple[Any, Any]]:
    """Of many parts, named by their keys, those that do not satisfy the part of a schema that they are held against."""
    address = _addresses().get(id(told)) if amount > _FEW else None
    if address is None:
        yield from parts
        return
    is_sound_part = _check_at(address)
    for key, value in parts:
        if not is_sound_part(value):
            yield key, value


@cache
def _check_at(address: str) -> Callable[[Any], bool]:
    from jsonschema_rs import Draft202012Validator

    is_valid = Draft202012Validator({"$ref": address}, retriever=_retrieve).is_valid

    def is_part(value: Any) -> bool:
        try:
            return is_valid(value)
        except ValueError:
            return False

    return is_part


@cache
def _addresses() -> dict[int, str]:
    """Where each part of the schemas stands, by its identity."""
    found: dict[int, str] = {}
    left = [(told["$id"] + "#", told) for told in map(schema, schema_names()) if "$id" in told]
    while left:
        address, told = left.pop()
        found[id(told)] = address
        for key, part in told.items():
            if isinstance(part, dict):
                left.append((f"{address}/{key.replace('~', '~0').replace('/', '~1')}", part))
    return found


def _unexplained(name: str, value: Any) -> Iterator[ShapeFault]:
    from jsonschema_rs import ValidationError

    try:
        # Only the first is asked for: the library makes all of them at once, each with what it is about.
        _validator(name).validate(value)
    except ValidationError as error:
        yield ShapeFault(
            "malformed-value",
            tuple(error.instance_path),
            "value",
            {"detail": error.message, "found": error.instance},
        )


__all__ = ["ShapeFault", "explain", "faults", "is_sound", "shape_findings", "task_shape", "task_validator"]
