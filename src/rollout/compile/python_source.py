"""An environment as a Python file that says the same: the builders where they fit, literals everywhere else.

Whatever an environment holds is written as a literal, so nothing of it becomes code. The same environment gives the
same text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from keyword import iskeyword
from pprint import pformat
from typing import Any

from rollout import builders
from rollout.environment import Environment, Task

_WIDTH = 100
_HEADER = '"""An environment. Check it with `rollout validate`, prove it with `rollout prove`."""\n\n'
_CONFIGS = {
    "workflow": "workflow_config",
    "custom": "custom_config",
    "code-editing": "code_editing_config",
    "browser": "browser_config",
}
_PLAIN = (
    *(ast.Module, ast.Expr, ast.ImportFrom, ast.alias, ast.Assign, ast.Name, ast.Store, ast.Load),
    *(ast.Call, ast.keyword, ast.Constant, ast.Dict, ast.List, ast.UnaryOp, ast.USub),
)
_TOOLS = {"workflow": ("lookup_tool", "action_tool", "mock_tool"), "custom": ("custom_tool",)}
_ARGUMENTS = {
    "paramsSchema": "params_schema",
    "fromArray": "from_array",
    "matchField": "match_field",
    "stateArray": "state_array",
    "initialMutableState": "initial_mutable_state",
    "initialState": "initial_state",
    "initialUrl": "initial_url",
}


class _Code(str):
    """Text that is Python already."""

    __slots__ = ()


def python_source(environment: Environment) -> str:
    """The Python file of an environment, with the ids and solutions of its tasks.

    Raises ValueError for what has no literal, such as NaN.
    """
    used: set[str] = set()
    fields: dict[str, Any] = {
        "slug": environment.slug,
        "name": environment.name,
        "template": environment.template,
        "description": environment.description,
        "schema": environment.schema,
        "seed": environment.seed,
        "dialect": environment.dialect,
        "now": environment.now,
        "read_only": None if environment.read_only else False,
        "config": _config(environment, used),
        "verifier": _verifier(environment.verifier, used),
        "tasks": _listed([_task(task) for task in environment.tasks]),
    }
    given = {key: each for key, each in fields.items() if each is not None}
    names = ", ".join(sorted({"Environment", "Task", *used}, key=lambda name: (name[0].islower(), name)))
    imports = f"from rollout import {names}\n"
    if len(imports) > _WIDTH:
        imports = "from rollout import (\n" + "".join(f"    {name},\n" for name in names.split(", ")) + ")\n"
    source = f"{_HEADER}{imports}\nenv = {_call('Environment', given)}\n"
    _look(source)
    return source


def _look(source: str) -> None:
    """Raises ValueError where there is more in a text than calls of names and literals."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, _PLAIN):
            raise ValueError(f"It would hold code ({type(node).__name__}).")


def _config(environment: Environment, used: set[str]) -> Any:
    config = environment.config
    builder = _CONFIGS.get(environment.template)
    if config is None or builder is None:
        return config
    written = dict(config)
    if isinstance(tools := config.get("tools"), list):
        written["tools"] = _listed([_tool(tool, environment.template, used) for tool in tools])
    if environment.template == "browser" and isinstance(pages := config.get("pages"), list):
        written["pages"] = _listed([_built("browser_page", page, page, used) for page in pages])
    return _built(builder, config, written, used)


def _tool(tool: Any, template: str, used: set[str]) -> _Code:
    for builder in _TOOLS.get(template, ()):
        kind = builder.removesuffix("_tool")
        if isinstance(tool, dict) and tool.get("kind") == (kind if template == "workflow" else None):
            return _built(builder, tool, tool, used)
    return _literal(tool)


def _verifier(verifier: Mapping[str, Any] | None, used: set[str]) -> Any:
    if verifier is None:
        return None
    primitives = verifier.get("primitives")
    if not isinstance(primitives, list) or set(verifier) - {"primitives", "passThreshold"}:
        return verifier
    each = [_built("primitive", one, one, used) for one in primitives]
    more = {"pass_threshold": verifier["passThreshold"]} if "passThreshold" in verifier else {}
    used.add("verifier_config")
    return _Code(_call("verifier_config", more, each))


def _built(builder: str, value: Any, written: Any, used: set[str]) -> _Code:
    """A call of a builder, where that gives ``value``; else the literal. ``written`` is it with parts as code."""
    if not isinstance(value, dict):
        return _literal(value)
    arguments: dict[str, Any] = {_argument(key): each for key, each in value.items() if key != "kind"}
    first = (
        ("name", "type") if builder == "primitive" else ("url",) if builder == "browser_page" else ("name",)
    )
    before = [arguments[key] for key in first if key in arguments]
    after = {key: each for key, each in arguments.items() if key not in first}
    try:
        same = _exact(getattr(builders, builder)(*before, **after)) == _exact(value)
    except (TypeError, ValueError):
        same = False
    if not same or not all(key.isidentifier() and not iskeyword(key) for key in after):
        return _code(written)
    used.add(builder)
    code = {_argument(key): each for key, each in written.items() if key != "kind"}
    return _Code(
        _call(
            builder,
            {key: each for key, each in code.items() if key not in first},
            [_code(code[key]) for key in first if key in code],
        )
    )


def _argument(key: str) -> str:
    return _ARGUMENTS.get(key, key)


def _exact(value: Any) -> str:
    return repr(sorted(value.items())) if isinstance(value, dict) else repr(value)


def _task(task: Task) -> _Code:
    said = {
        "instruction": task.instruction,
        "hidden_ground_truth": task.hidden_ground_truth or None,
        "input": task.input,
        "split": None if task.split == "dev" else task.split,
        "id": task.id,
        "solution": task.solution,
    }
    return _Code(_call("Task", {key: each for key, each in said.items() if each is not None}))


def _call(name: str, arguments: Mapping[str, Any], first: list[_Code] | None = None) -> str:
    parts = [*(first or ()), *(f"{key}={_code(each)}" for key, each in arguments.items())]
    short = f"{name}({', '.join(parts)})"
    if len(short) <= _WIDTH // 2 and "\n" not in short:
        return short
    return f"{name}(\n" + "".join(f"{_indented(part)},\n" for part in parts) + ")"


def _listed(parts: list[_Code]) -> _Code:
    return _Code("[\n" + "".join(f"{_indented(part)},\n" for part in parts) + "]" if parts else "[]")


def _code(value: Any) -> _Code:
    if isinstance(value, _Code):
        return value
    if isinstance(value, dict) and any(isinstance(each, _Code) for each in value.values()):
        lines = "".join(f"{_indented(f'{_literal(key)}: {_code(each)}')},\n" for key, each in value.items())
        return _Code("{\n" + lines + "}")
    return _literal(value)


def _literal(value: Any) -> _Code:
    _check(value)
    return _Code(pformat(value, width=_WIDTH, sort_dicts=False))


def _check(value: Any) -> None:
    """Raises ValueError for what Python would write as something else than a literal."""
    if value is None or type(value) in (str, bool, int):
        return
    if type(value) is float and value - value == 0:
        return
    if type(value) is dict and all(type(key) is str for key in value):
        for each in value.values():
            _check(each)
    elif type(value) is list:
        for each in value:
            _check(each)
    else:
        raise ValueError(f"{type(value).__name__} has no literal.")


def _indented(text: str) -> str:
    # A literal of Python has no line break inside its quotes.
    return "\n".join(f"    {line}" for line in text.split("\n"))


__all__ = ["python_source"]
