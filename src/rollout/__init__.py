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
    from rollout.platform.client import AsyncClient, Client
    from rollout.platform.errors import RolloutError

__version__ = "0.3.0"

LAST_WITH_TRAINING = "pip install 'rolloutdev==0.2.0'"
"""What gets the version that has the commands that train models; they come with a part not here yet."""

_HOMES = {
    "AsyncClient": "rollout.platform.client",
    "Client": "rollout.platform.client",
    "Environment": "rollout.environment",
    "RolloutError": "rollout.platform.errors",
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
    "AsyncClient",
    "Client",
    "Environment",
    "RolloutError",
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
    if name not in _HOMES:
        raise AttributeError(f"module 'rollout' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
