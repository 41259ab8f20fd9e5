"""Where a spec holds regular expressions."""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.site import elements
from rollout.check.subject import Subject
from rollout.source.place import Route


def regexes(subject: Subject) -> Iterator[tuple[Route, str]]:
    """Every regular expression of an environment with its route: those of primitives, and those of inputs."""
    for primitive in subject.primitives:
        pattern = primitive.text("pattern")
        if primitive.value.get("type") == "output_matches" and pattern is not None:
            yield (*primitive.route, "pattern"), pattern
    for page in subject.pages:
        for element in elements(page):
            pattern = element.text("pattern")
            if element.value.get("type") == "input" and pattern is not None:
                yield (*element.route, "pattern"), pattern


__all__ = ["regexes"]
