"""The outcome of a check: the diagnostics, and the environment once there is no error among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rollout.diagnostics import Diagnostic, Severity
from rollout.environment import Environment, Task, as_compiled
from rollout.source.document import Document

UNPARSED = frozenset(
    {
        "binary-file",
        "control-character",
        "csv-syntax",
        "empty-file",
        "expanding-aliases",
        "huge-file",
        "huge-folder",
        "json-syntax",
        "not-utf8",
        "recursive-alias",
        "several-documents",
        "symlink-loop",
        "tab-indentation",
        "too-deep",
        "too-many-broken-lines",
        "toml-syntax",
        "unknown-alias",
        "unreadable-file",
        "yaml-syntax",
    }
)
"""The findings that say of a file, or of a line of tasks, that it could not be read or parsed."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `check` found in one document, in reading order.

    ``omitted`` counts, by slug, the findings past the bound that were counted but not kept; ``tasks`` is the
    number of tasks that were read.
    """

    document: Document
    diagnostics: tuple[Diagnostic, ...]
    tasks: int
    omitted: Mapping[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return sum(found.severity is Severity.ERROR for found in self.diagnostics)

    @property
    def warnings(self) -> int:
        """How many warnings there are."""
        return len(self.diagnostics) - self.errors

    @property
    def ok(self) -> bool:
        """Whether the environment can be used: nothing but warnings."""
        return self.errors == 0

    @property
    def is_whole(self) -> bool:
        """Whether every file could be read and parsed, so that no part of the environment is unknown."""
        return self.document.readable and not any(found.slug in UNPARSED for found in self.diagnostics)

    def environment(self) -> Environment:
        """The environment that the document says, as it is compiled and run.

        Raises ValueError when the report holds an error.
        """
        if not self.ok:
            raise ValueError(f"{self.document.label} has errors; it is no environment yet.")
        return as_compiled(environment_in(self.document))


def environment_in(document: Document) -> Environment:
    """The environment that a document says as it is written, checked or not. Raises ValueError where it says none."""
    value: dict[str, Any] = document.value
    try:
        return Environment(
            slug=document.slug,
            name=document.name,
            template=value["template"],
            description=value.get("description"),
            config=value.get("config"),
            schema=value.get("schema"),
            seed=value.get("seed"),
            verifier=value.get("verifier"),
            dialect=value.get("dialect"),
            now=value.get("now"),
            read_only=value.get("readOnly", True),
            folder=document.root,
            tasks=[Task.from_value(record.value) for record in document.tasks.read([])],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"“{document.label}” says no environment: {error}.") from error


__all__ = ["UNPARSED", "Report", "environment_in"]
