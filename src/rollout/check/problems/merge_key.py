"""A YAML merge key (`<<`) is used.

Merge keys were a proposal beside YAML 1.1 and are not part of YAML 1.2; some readers take `<<` for an ordinary key,
and those that merge disagree about which side wins. Write the keys out, so that a reviewer sees in one place what an
object holds. Anchors and aliases for whole values are fine.

Before:

    base: &base {kind: mock, response: ok}
    tool:
      <<: *base
      name: ping

After:

    tool:
      kind: mock
      response: ok
      name: ping
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL117"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        "The merge key “<<” is not part of YAML 1.2.",
        'Write out the keys that it brings in; a key that is really called so is written "<<".',
    )


__all__ = ["CODE", "SEVERITY", "describe"]
