"""What a reviewer is told about two versions of an environment: each change, and whether old runs still count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rollout.source.place import Route

_MOST_NAMED = 5


class Kind(StrEnum):
    """What happened to the subject."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Effect(StrEnum):
    """What a change does to a rollout."""

    AGENT = "agent sees"
    """The agent is asked something else, or meets another world."""
    GRADING = "grading"
    """The agent meets the same, but is judged otherwise, or counted in another split."""
    PERHAPS = "perhaps grading"
    """Something changed that code which judges may read, by a name that it works out."""
    METADATA = "metadata only"
    """Neither the agent nor the verifier can tell."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    ``subject`` is the kind of thing (task, tool, parameter, fixture, …), ``label`` names the one it is, ``route``
    leads to it in the compiled file (in ``after``, or in ``before`` for what was removed). ``before`` is None for what
    was added and ``after`` for what was removed; both are JSON values.
    """

    kind: Kind
    subject: str
    label: str
    route: Route
    before: Any
    after: Any
    effect: Effect


@dataclass(frozen=True, slots=True)
class Version:
    """One side of a difference: who the environment was, and the digest of its compiled bytes."""

    slug: str
    name: str
    digest: str
    tasks: int


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes from one version of an environment to the next, in the order of their effect.

    A side is None where the environment did not exist. ``kept_tasks`` counts the tasks whose own words, input, split
    and ground truth are the same on both sides. ``notes`` are sentences about what a reader might miss. Of
    ``unseen_code``, functions that judge, and of ``unseen_settings`` of a database nobody knows whether they changed.
    ``unexplained`` says that the two are not the same to agents or graders, and that no change says why. ``secrets``
    are what looks like one on either side, with what may be shown of each; the changes have them in full.
    """

    before: Version | None
    after: Version | None
    changes: tuple[Change, ...]
    kept_tasks: int = 0
    notes: tuple[str, ...] = ()
    unseen_code: tuple[str, ...] = ()
    unseen_settings: tuple[str, ...] = ()
    unexplained: bool = False
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def slug(self) -> str:
        """The environment's slug: the new one where it changed."""
        version = self.after or self.before
        return version.slug if version else ""

    @property
    def is_empty(self) -> bool:
        """Whether both versions mean the same."""
        known = not self.changes and not self.unexplained
        return known and self.before is not None and self.after is not None

    @property
    def counts(self) -> dict[Effect, int]:
        """How many changes there are of each effect."""
        counted = Counter(change.effect for change in self.changes)
        return {effect: counted[effect] for effect in Effect}

    @property
    def is_comparable(self) -> bool:
        """Whether runs on the old version may be compared with runs on the new one, as far as that is known."""
        if self.before is None or self.after is None or self.unexplained or self._is_partly_unseen:
            return False
        return all(change.effect is Effect.METADATA for change in self.changes)

    @property
    def has_effect(self) -> bool:
        """Whether some change is certain to be of more than metadata, or something changed that nobody can name."""
        felt = (Effect.AGENT, Effect.GRADING)
        return self.unexplained or any(change.effect in felt for change in self.changes)

    @property
    def conclusion(self) -> str:
        """The sentence a reviewer looks for first."""
        return self.concluded(lambda name: f"“{name}”")

    def concluded(self, quote: Callable[[str], str]) -> str:
        """The conclusion, with the names that an environment gives put into it by ``quote``."""
        if self.before is None:
            return "The environment is new: there are no old runs to compare with."
        if self.after is None:
            return "The environment is gone: its old runs have nothing left to be compared with."
        counts = self.counts
        if self.unexplained:
            return (
                "Old runs do not stay comparable: the digests differ, and what differs for agents or graders is "
                "nothing that this comparison can name."
            )
        unknown = "whether old runs stay comparable is unknown"
        if self._is_partly_unseen and not self.has_effect:
            found = "Only metadata changed" if self.changes else "No difference"
            return f"{found} in what is compared. {self._unseen(quote)} not: {unknown}."
        if (beside := counts[Effect.PERHAPS]) and not self.has_effect:
            files = "1 file" if beside == 1 else f"{beside} files"
            return f"{files} changed that the code which judges may read: {unknown}."
        if not self.changes:
            return "No difference: old runs stay comparable."
        if self.is_comparable:
            return "Old runs stay comparable: only metadata changed."
        reasons = []
        if seen := counts[Effect.AGENT]:
            reasons.append(f"{seen} {'change' if seen == 1 else 'changes'} that the agent sees")
        if graded := counts[Effect.GRADING]:
            reasons.append(f"{graded} {'change' if graded == 1 else 'changes'} of the grading")
        sentence = f"Old runs do not stay comparable: {', '.join(reasons)}."
        if self.kept_tasks and self._only_tasks_changed() and not self._is_partly_unseen:
            kept = "1 task is" if self.kept_tasks == 1 else f"{self.kept_tasks} tasks are"
            sentence += f" {kept} as before, and can still be compared task by task."
        return sentence

    @property
    def _is_partly_unseen(self) -> bool:
        return bool(self.unseen_code or self.unseen_settings)

    def _unseen(self, quote: Callable[[str], str]) -> str:
        parts, settings = [], len(self.unseen_settings)
        if self.unseen_code:
            parts.append(f"the code of {_listed(self.unseen_code, quote)}")
        if settings:
            named = _listed(self.unseen_settings, quote)
            parts.append(f"the {'setting' if settings == 1 else 'settings'} {named} of the database")
        said = " and ".join(parts)
        return f"{said[0].upper()}{said[1:]} {'is' if len(parts) == 1 and settings < 2 else 'are'}"

    def _only_tasks_changed(self) -> bool:
        return all(
            change.effect is Effect.METADATA
            or (change.route[:1] == ("environment",) and change.route[1:2] == ("tasks",))
            for change in self.changes
        )


def _listed(names: Sequence[str], quote: Callable[[str], str]) -> str:
    listed = ", ".join(map(quote, names[:_MOST_NAMED]))
    more = len(names) - _MOST_NAMED
    return f"{listed} and {more} more" if more > 0 else listed


__all__ = ["Change", "Difference", "Effect", "Kind", "Version"]
