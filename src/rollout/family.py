"""Finds a member of a family — a template, a primitive, a rule — by its file's name, or by an entry point.

Nothing is registered by hand: a member is a module in the family's package, and its name is the file's name
with hyphens or underscores. A package installed beside rollout adds members through the entry-point group
``rollout.<family>``.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType


@cache
def members(package: str) -> tuple[str, ...]:
    """The names of all members of ``package`` (such as ``rollout.verifiers``), sorted, as users write them."""
    # The package is not imported: a name is asked for where what the package needs has no place yet.
    folder = Path(__file__).parent.joinpath(*package.split(".")[1:])
    own = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    return tuple(sorted(own | set(_entry_points(package))))


def member(package: str, name: str) -> ModuleType | None:
    """The member of ``package`` called ``name`` (hyphens and underscores are one), or None when there is none.

    Only names that :func:`members` lists are imported, so a name from a user's file cannot reach another module.
    """
    module = name.replace("-", "_")
    # Also of what is there already: the parts that members share are no members.
    if module not in members(package):
        return None
    # Where another thread is half way through it, it is waited for.
    return import_module(_entry_points(package).get(module, f"{package}.{module}"))


def _entry_points(package: str) -> dict[str, str]:
    return _installed_plugins().get(package, {})


@cache
def _installed_plugins() -> dict[str, dict[str, str]]:
    # importlib.metadata costs 25 ms to import; reading the few listings ourselves costs two.
    found: dict[str, dict[str, str]] = {}
    for folder in {Path(entry) for entry in sys.path if entry.endswith("site-packages")}:
        for listing in folder.glob("*.dist-info/entry_points.txt"):
            text = listing.read_text(encoding="utf-8", errors="replace")
            if "[rollout." in text:
                for group, names in _read_groups(text).items():
                    found.setdefault(group, {}).update(names)
    return found


def _read_groups(text: str) -> dict[str, dict[str, str]]:
    from configparser import ConfigParser

    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return {
        group: {name.replace("-", "_"): target.strip() for name, target in parser.items(group)}
        for group in parser.sections()
        if group.startswith("rollout.")
    }


__all__ = ["member", "members"]
