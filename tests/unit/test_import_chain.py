"""Imports point one way, members of families are found by name only, and only the command line prints."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollout.family import members

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"

# As in docs/design/architecture.md; names of one stage may import each other.
CHAIN = (
    ("rollout",),
    ("rollout.diagnostics", "rollout.family", "rollout.scratch"),
    ("rollout.source",),
    ("rollout.language",),
    ("rollout.database",),
    ("rollout.environment", "rollout.builders"),
    ("rollout.check",),
    ("rollout.compile",),
    ("rollout.settings",),
    ("rollout.sandbox",),
    ("rollout.templates", "rollout.verifiers", "rollout.models"),
    ("rollout.engine",),
    ("rollout.analysis",),
    ("rollout.training",),
    ("rollout.platform",),
    ("rollout.cli", "rollout.__main__"),
)
STAGE = {name: stage for stage, names in enumerate(CHAIN) for name in names}
FAMILIES = (
    "rollout.check.problems",
    "rollout.check.rules",
    "rollout.cli.commands",
    "rollout.diagnostics",
    "rollout.engine.executors",
    "rollout.models",
    "rollout.templates",
    "rollout.training.providers",
    "rollout.verifiers",
)
HEAVY = (
    "aiohttp",
    "alembic",
    "asyncio",
    "httpx",
    "jinja2",
    "jsonschema",
    "openai",
    "pygments",
    "ray",
    "sqlalchemy",
    "starlette",
    "tomlkit",
    "uvicorn",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module of ours that ``path`` imports, at its top or inside a function, with the line."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in MODULES else str(node.module)


def stage_of(module: str) -> int:
    parts = module.split(".")
    return STAGE[".".join(parts[:2])]


# `rollout` itself is left out: it names where each public name lives, and imports it when it is first used.
@pytest.mark.parametrize("name", [name for name in MODULES if name != "rollout"])
def test_a_module_imports_nothing_to_its_right(name: str) -> None:
    wrong = [
        f"{MODULES[name]}:{line}: {name} imports {imported}"
        for line, imported in imports(MODULES[name])
        if imported.split(".")[0] == "rollout" and stage_of(imported) > stage_of(name)
    ]
    assert wrong == []


def test_every_package_has_its_place_in_the_chain() -> None:
    assert {".".join(name.split(".")[:2]) for name in MODULES} <= set(STAGE)


def test_no_module_imports_a_member_of_a_family() -> None:
    own = {
        f"{family}.{name}" for family in FAMILIES for name in members(family) if f"{family}.{name}" in MODULES
    }
    assert len(own) > len(FAMILIES)
    wrong = [
        f"{path}:{line}: {name} imports {imported}"
        for name, path in MODULES.items()
        for line, imported in imports(path)
        if imported in own
    ]
    assert wrong == []


def test_only_the_command_line_prints() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for name, path in MODULES.items()
        if not name.startswith("rollout.cli")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if speaks(node)
    ]
    assert wrong == []


def speaks(node: ast.AST) -> bool:
    """Whether it prints or writes to a standard stream; to point one elsewhere while a user's file runs is fine."""
    if isinstance(node, ast.Name):
        return node.id == "print"
    written = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
    return written == "typer.echo" or written.startswith(("sys.stdout.", "sys.stderr."))


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["validate", "environments/refund"], ["validate", "--help"], ["explain"]],
    ids=" ".join,
)
def test_a_light_command_starts_without_heavy_modules(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from rollout.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as end:\n"
        f"    loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "    sys.exit(f'heavy: {loaded}' if loaded else end.code)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


def test_importing_rollout_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import rollout; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = [name for name in ended.stdout.split() if name.startswith("rollout")]
    assert ours == ["rollout"]
    assert not set(HEAVY) & set(ended.stdout.split())
