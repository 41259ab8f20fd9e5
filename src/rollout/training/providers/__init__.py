"""Providers that train models. One file each, found by the first part of the base model's id.

A provider's module has ``METHODS``, ``JOBS`` and ``connect(setup) -> Provider``; it raises
:class:`rollout.models.ConnectError` where its key is missing. ``METHODS`` has the hyperparameters of each method by
which it trains: whoever asks for a job says those, and the rest of what a provider is told is the server's to say.
``JOBS`` is the page at which the provider shows its jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from rollout.family import member, members

Hyperparams = Mapping[str, "Hyperparams | None"]
"""Names of hyperparameters; those that are objects have names of their own, for others there is None."""


class TrainingError(Exception):
    """Training that a provider refused or cannot do; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


class UncertainError(TrainingError):
    """A provider that was asked for a job, and of which nobody knows whether it has begun it: what it answered did not
    arrive, or says neither."""


class HyperparamError(TrainingError):
    """A hyperparameter that a provider is not told; ``route`` is where it stands among them."""

    def __init__(self, sentence: str, hint: str, route: tuple[str, ...]) -> None:
        super().__init__(sentence, hint)
        self.route = route


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
        """Starts a job on a file of rows; its id there. ``hyperparams`` are of those in ``METHODS``.

        The provider is asked for it once. Raises TrainingError, where it may have begun all the same UncertainError.
        """

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


def place_of_jobs(provider: str) -> str:
    """Where the jobs of a provider are shown, in words."""
    module = member(__name__, provider)
    place = "" if module is None else f" ({module.JOBS})"
    return f"the training jobs of “{provider}”{place}"


def check_hyperparams(given: Mapping[str, Any], known: Hyperparams, *, route: tuple[str, ...] = ()) -> None:
    """Raises HyperparamError for the first of ``given`` that is none of the ``known``, or has another shape."""
    for name, value in given.items():
        here = (*route, name)
        if name not in known:
            raise HyperparamError(
                f"“{'.'.join(here)[:80]}” is no hyperparameter that can be chosen here.",
                f"These can be: {', '.join('.'.join((*route, each)) for each in known)}.",
                here,
            )
        within = known[name]
        if within is None and isinstance(value, dict | list):
            raise HyperparamError(
                f"“{'.'.join(here)}” is to be a single value.", "Write a number, a text, true or false.", here
            )
        if within is not None:
            if not isinstance(value, dict):
                raise HyperparamError(
                    f"“{'.'.join(here)}” is to be an object.", f"It has {', '.join(within)}.", here
                )
            check_hyperparams(value, within, route=here)


__all__ = [
    "HyperparamError",
    "Hyperparams",
    "Progress",
    "Provider",
    "TrainingError",
    "UncertainError",
    "check_hyperparams",
    "place_of_jobs",
    "provider_of",
]
