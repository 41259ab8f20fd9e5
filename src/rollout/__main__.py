"""The command `rollout`, which `python -m rollout` is too."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line; what is interrupted before it is even loaded ends as any other command does."""
    try:
        from rollout.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
