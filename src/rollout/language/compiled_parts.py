"""The parts of an environment as the compiled file has them: one meaning, one spelling."""

from __future__ import annotations

from typing import Any

from rollout.language.key_order import layout

_Defaults = dict[str, bool | int | float]


def compiled_config(template: str, config: dict[str, Any]) -> Any:
    """A config in canonical order, whole floats as ints, without ``x-…`` keys."""
    return layout(template).arrange(config)


def compiled_verifier(verifier: dict[str, Any]) -> dict[str, Any]:
    """A verifier in canonical order, without what says nothing; each primitive has its weight."""
    shape = layout("verifier")
    arranged = _without_defaults(shape.arrange(verifier), shape.defaults)
    defaults = {
        key: value for key, value in shape.keys["primitives"].items.defaults.items() if key != "weight"
    }
    arranged["primitives"] = [_primitive(each, defaults) for each in arranged["primitives"]]
    return arranged


def plain_text(text: str) -> str:
    """A description or SQL as the format means it: ``\\n`` ends a line, and line breaks at the end do not count."""
    return text.rstrip("\r\n").replace("\r\n", "\n")


def _primitive(primitive: dict[str, Any], defaults: _Defaults) -> dict[str, Any]:
    head: dict[str, Any] = {key: primitive[key] for key in ("name", "type") if key in primitive}
    head["weight"] = primitive.get("weight", 1)
    return head | _without_defaults(primitive, defaults)


def _without_defaults(value: dict[str, Any], defaults: _Defaults) -> dict[str, Any]:
    def says_nothing(key: str) -> bool:
        default = defaults.get(key)
        return isinstance(value[key], bool) == isinstance(default, bool) and value[key] == default

    return {key: value[key] for key in value if key not in defaults or not says_nothing(key)}


__all__ = ["compiled_config", "compiled_verifier", "plain_text"]
