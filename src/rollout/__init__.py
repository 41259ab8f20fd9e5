"""Author, check, prove, run and improve agent environments.

The public names are loaded when they are first used, so that ``import rollout`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rollout.builders import (
        action_tool,
        browser_config,
        browser_page,
        code_editing_config,
        custom_config,
        custom_tool,
        lookup_tool,
        mock_tool,
        primitive,
        verifier_config,
        workflow_config,
    )
    from rollout.environment import Environment, Task

__version__ = "0.3.0"

LAST_WITH_PLATFORM = "pip install 'rolloutdev==0.2.0'"
"""What gets the version that has the names and commands that ask the platform; they come with a part not here yet."""

_OF_THE_PLATFORM = frozenset(("Client", "RolloutError"))

_HOMES = {
    "Environment": "rollout.environment",
    "Task": "rollout.environment",
    "action_tool": "rollout.builders",
    "browser_config": "rollout.builders",
    "browser_page": "rollout.builders",
    "code_editing_config": "rollout.builders",
    "custom_config": "rollout.builders",
    "custom_tool": "rollout.builders",
    "lookup_tool": "rollout.builders",
    "mock_tool": "rollout.builders",
    "primitive": "rollout.builders",
    "verifier_config": "rollout.builders",
    "workflow_config": "rollout.builders",
}

__all__ = [
    "Environment",
    "Task",
    "action_tool",
    "browser_config",
    "browser_page",
    "code_editing_config",
    "custom_config",
    "custom_tool",
    "lookup_tool",
    "mock_tool",
    "primitive",
    "verifier_config",
    "workflow_config",
]


def __getattr__(name: str) -> Any:
    if name in _OF_THE_PLATFORM:
        # `from rollout import …` would take an AttributeError for a sentence of its own.
        raise ImportError(not_yet(name))
    if name not in _HOMES:
        raise AttributeError(f"module 'rollout' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def not_yet(name: str) -> str:
    """The sentence about a published name that asks the platform."""
    return (
        f"{name} is not part of rollout {__version__} yet: it comes with the platform part. Until then it is in "
        f"0.2.0; put that into a virtual environment of its own: {LAST_WITH_PLATFORM}"
    )


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
