"""The settings of a project: ``rollout.toml``, with its platform, the servers that models are asked at, and prices.

Nothing secret stands in it: a key is named by the environment variable that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rollout.diagnostics import Diagnostic
    from rollout.source.place import Parsed, Problem

FILE = "rollout.toml"

MODELS = "rollout.models"
"""The family whose names no server can have: it would be sent another provider's key."""

_OWN_NAME = (
    "a name of your own: this one means a model here already (where openai/… is, OPENAI_BASE_URL says)"
)


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs in US dollars for a million tokens; ``cached`` None is as ``input``."""

    input: float
    output: float
    cached: float | None = None

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """The cost of so many tokens in US dollars; ``cached_tokens`` are among those of the input."""
        cached = min(cached_tokens, input_tokens)
        rate = self.input if self.cached is None else self.cached
        return (
            (input_tokens - cached) * self.input + cached * rate + output_tokens * self.output
        ) / 1_000_000


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """A server that speaks the chat-completions protocol, as written in the settings."""

    base_url: str
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    send_reasoning: bool = False
    max_tokens_key: str = "max_tokens"


@dataclass(frozen=True, slots=True)
class Settings:
    """All of ``rollout.toml``; empty where there is none. ``path`` is the file, ``endpoint`` as it is written, and
    ``author`` the model that writes environments where none is named."""

    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    path: Path | None = None
    endpoint: str | None = None
    author: str | None = None


class SettingsError(ValueError):
    """Settings that cannot be used; ``diagnostics`` say what is wrong and where."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = tuple(diagnostics)


def find_settings(start: Path) -> Path | None:
    """The nearest ``rollout.toml`` in ``start`` or a folder above it, up to the root of its repository."""
    folder = start.resolve()
    for each in (folder, *folder.parents):
        if (each / FILE).is_file():
            return each / FILE
        if (each / ".git").exists():
            return None
    return None


def read_settings(path: Path, label: str | None = None) -> Settings:
    """The settings in the file at ``path``. Raises SettingsError with a diagnostic for each mistake."""
    from rollout.source.file import read_source
    from rollout.source.toml import parse

    problems: list[Problem] = []
    source = read_source(path, label or path.name, problems)
    parsed = parse(source, problems) if source is not None else None
    if parsed is not None:
        problems += _faults(parsed)
    if problems:
        raise SettingsError(_diagnostics(problems))
    assert parsed is not None
    return _settings(parsed.value, path)


def _faults(parsed: Parsed) -> list[Problem]:
    from rollout.check.schema import faults
    from rollout.family import members
    from rollout.source.place import Problem

    found = []
    for fault in faults("settings", parsed.value):
        span, facts = parsed.place.nearest(fault.route)[0].span(fault.at), fault.facts
        if fault.route and fault.route[-1] == "api_key_env" and isinstance(facts.get("found"), str):
            # It is the key itself that people put there, and a diagnostic is shown in logs.
            span, facts = replace(span, text=""), {**facts, "found": "…"}
        found.append(Problem(fault.slug, span, facts))
    providers = parsed.value.get("providers")
    for name in providers if isinstance(providers, dict) else ():
        if name.replace("-", "_") in members(MODELS):
            place = parsed.place.nearest(("providers", name))[0]
            facts = {"part": "the name of a provider", "found": name, "form": _OWN_NAME}
            found.append(Problem("malformed-value", place.span("key"), facts))
    return found


def _diagnostics(problems: Sequence[Problem]) -> list[Diagnostic]:
    from rollout.check.rulebook import rule
    from rollout.diagnostics import Diagnostic, Related

    found = []
    for problem in problems:
        known = rule(problem.slug)
        assert known.describe is not None
        message, hint = known.describe(problem)
        related = tuple(Related(span, words) for span, words in problem.facts.get("see", ()))
        found.append(Diagnostic(known.code, known.slug, known.severity, message, problem.span, hint, related))
    return sorted(found, key=lambda diagnostic: diagnostic.sort_key)


def _settings(value: Mapping[str, Any], path: Path) -> Settings:
    return Settings(
        providers={
            name: ProviderSettings(**_known(written)) for name, written in value.get("providers", {}).items()
        },
        prices={name: Price(**_known(written)) for name, written in value.get("prices", {}).items()},
        path=path,
        endpoint=value.get("endpoint"),
        author=value.get("generate", {}).get("model"),
    )


def _known(written: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in written.items() if not key.startswith("x-")}


__all__ = [
    "FILE",
    "MODELS",
    "Price",
    "ProviderSettings",
    "Settings",
    "SettingsError",
    "find_settings",
    "read_settings",
]
