"""What the shell offers after a word has been begun: the values that options and arguments take."""

from __future__ import annotations


def templates(incomplete: str) -> list[str]:
    """The templates' names."""
    from rollout.source.contract import templates as known

    return [name for name in known() if name.startswith(incomplete)]


def schemas(incomplete: str) -> list[str]:
    """The schemas' names."""
    from rollout.source.contract import schema_names

    return [name for name in schema_names() if name.startswith(incomplete)]


def rules(incomplete: str) -> list[str]:
    """The rules' slugs, or their codes once an RL is typed."""
    from rollout.check.rulebook import rules as known

    names = [rule.code if incomplete.upper().startswith("RL") else rule.slug for rule in known()]
    return [name for name in names if name.startswith(incomplete)]


def formats(incomplete: str) -> list[str]:
    """The formats of diagnostics."""
    from rollout.family import members

    return [name for name in members("rollout.diagnostics") if name.startswith(incomplete)]


def models(incomplete: str) -> list[str]:
    """The models that need no provider."""
    return [name for name in ("oracle", "noop", "human", "random:", "replay:") if name.startswith(incomplete)]


def splits(incomplete: str) -> list[str]:
    """The splits of tasks."""
    return [name for name in ("dev", "test", "train") if name.startswith(incomplete)]


__all__ = ["formats", "models", "rules", "schemas", "splits", "templates"]
