"""What imports what in src/rollout, package by package, read from the source as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Package:
    """A package, or a module at the top: its name, what its docstring says it is for, and what it imports."""

    name: str
    purpose: str
    imports: frozenset[str]


def read_packages(folder: Path) -> dict[str, Package]:
    """The packages in ``folder`` by name. Imports inside functions count like those at the top of a file."""
    homes = {
        path.stem: path
        for path in sorted(folder.iterdir())
        if (path.suffix == ".py" and not path.stem.startswith("__")) or (path / "__init__.py").is_file()
    }
    packages: dict[str, Package] = {}
    for name, home in homes.items():
        files = sorted(home.rglob("*.py")) if home.is_dir() else [home]
        imported = {found for file in files for found in _imports(ast.parse(file.read_bytes()), folder.name)}
        front = home / "__init__.py" if home.is_dir() else home
        packages[name] = Package(
            name,
            _purpose(name, ast.get_docstring(ast.parse(front.read_bytes())) or ""),
            frozenset(imported & homes.keys() - {name}),
        )
    return packages


def without_shortcuts(packages: dict[str, Package]) -> dict[str, set[str]]:
    """For each package what it imports, but for what it reaches through another of its imports as well.

    Raises ValueError when packages import each other in a ring.
    """
    reached: dict[str, set[str]] = {}

    def reach(name: str, way: tuple[str, ...]) -> set[str]:
        if name in way:
            raise ValueError(f"{' → '.join([*way, name])}: packages import each other in a ring.")
        if name not in reached:
            direct = packages[name].imports
            reached[name] = set(direct).union(*(reach(each, (*way, name)) for each in sorted(direct)))
        return reached[name]

    for name in packages:
        reach(name, ())
    return {
        name: {
            each for each in package.imports if not any(each in reached[other] for other in package.imports)
        }
        for name, package in packages.items()
    }


def _imports(tree: ast.Module, root: str) -> Iterator[str]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first, *rest = name.split(".")
            if first == root and rest:
                yield rest[0]


def _purpose(name: str, docstring: str) -> str:
    """The heart of a docstring's first sentence: no “Models:” before it, no insertion, nothing after a colon."""
    first = re.sub(r"\s+", " ", docstring).split(". ")[0].rstrip(".").replace("`", "")
    head, colon, rest = first.partition(": ")
    if colon and head.lower().removeprefix("the ").rstrip("s") == name.rstrip("s"):
        first = rest
    elif colon and len(head) > 20:  # long enough to be said alone
        first = head
    first = re.sub(" — [^—]* —", "", first.split(";")[0])
    return first[:1].upper() + first[1:]
