"""The calls that count for those who judge calls: those that came to their tool, whatever it answered."""

from __future__ import annotations

from collections.abc import Iterable

from rollout.verifiers import Case, ToolCall


def made_calls(case: Case, tool: str | None = None) -> list[ToolCall]:
    """The calls that came to their tool, in order: all of them, or those of one tool."""
    return [call for call in case.calls if call.ran and (tool is None or call.tool == tool)]


def strayed(case: Case, tool: str | None = None) -> str:
    """A sentence, with a space before it, for calls that never came to their tool; empty where there were none."""
    lost = sum(not call.ran and (tool is None or call.tool == tool) for call in case.calls)
    if not lost:
        return ""
    home = "its tool" if tool is None else "it"
    return f" {lost} more never came to {home}." if lost > 1 else f" One more never came to {home}."


def times(count: int) -> str:
    """How often: “once”, “3 times”."""
    return "once" if count == 1 else f"{count} times"


def listed(names: Iterable[str], *, most: int = 12) -> str:
    """Names in quotes, in their order; “no tool at all” where there are none."""
    all_names = list(names)
    shown = ", ".join(f"“{name}”" for name in all_names[:most])
    return (shown + (", …" if len(all_names) > most else "")) or "no tool at all"


__all__ = ["listed", "made_calls", "strayed", "times"]
