"""Providers that train models. One file each, found by the first part of the base model's id.

A provider's module has ``METHODS`` and ``connect(setup) -> Provider``; it raises
:class:`rollout.models.ConnectError` where its key is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from rollout.family import member, members


class TrainingError(Exception):
    """Training that a provider refused or cannot do; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is at its provider: ``status`` in the provider's words, the model where there is one, and why
    there is none where it failed."""

    status: str
    model: str | None = None
    error: str | None = None


class Provider(Protocol):
    """Trains models."""

    async def begin(
        self, model: str, data: bytes, *, method: str, suffix: str | None, hyperparams: Mapping[str, Any]
    ) -> str:
        """Starts a job on a file of rows; its id there. Raises TrainingError."""

    async def look(self, job_id: str) -> Progress:
        """How far a job is. Raises TrainingError."""

    async def close(self) -> None:
        """Gives the connections back."""


def provider_of(base_model: str) -> tuple[str, ModuleType]:
    """The provider that a base model is trained at, by its name. Raises TrainingError."""
    name, _, model = base_model.partition("/")
    module = member(__name__, name) if name and model else None
    if module is None:
        known = ", ".join(f"{each}/…" for each in members(__name__))
        raise TrainingError(f"“{base_model}” cannot be trained from here.", f"What can be is {known}.")
    return name, module


__all__ = ["Progress", "Provider", "TrainingError", "provider_of"]
