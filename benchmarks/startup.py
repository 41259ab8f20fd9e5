"""How long `rollout validate` and `rollout --help` take beside a bare `python -c "import yaml, jsonschema"`."""

from __future__ import annotations

import subprocess
import sys

from measure import ROOT, Limit, command, ratio, report, rollout, time_in_turn

PEER = "python -c 'import yaml, jsonschema'"
VALIDATE = "rollout validate environments/refund"
HELP = "rollout --help"
HEAVY = ("openai", "httpx", "jinja2", "starlette", "uvicorn")


def main() -> None:
    measured = time_in_turn(
        {
            "python -c pass": command(sys.executable, "-c", "pass"),
            PEER: command(sys.executable, "-c", "import yaml, jsonschema"),
            VALIDATE: command(rollout(), "validate", "environments/refund"),
            HELP: command(rollout(), "--help"),
        },
        repeat=15,
    )
    for arguments in (["validate", "environments/refund"], ["--help"]):
        loaded = heavy_modules(arguments)
        if loaded:
            sys.exit(f"rollout {' '.join(arguments)} imports {', '.join(loaded)}")
    limits = [
        Limit("validate / peer", ratio(measured, VALIDATE, PEER), 2.5),
        Limit("--help / peer", ratio(measured, HELP, PEER), 2),
    ]
    report("Start-up", measured, limits)


def heavy_modules(arguments: list[str]) -> list[str]:
    """Which of the heavy modules a command imports, as Python itself tells."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", rollout(), *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    return [name for name in HEAVY if name in imported]


if __name__ == "__main__":
    main()
