"""How a server confines commands: it runs those of whoever has a key, so never without a sandbox."""

from __future__ import annotations

import os

from rollout.sandbox import KINDS, VARIABLE, SandboxError

UNCONFINED = "none"
_CONFINING = tuple(kind for kind in KINDS if kind != UNCONFINED)


def confined(asked: str | None) -> str:
    """The kind of sandbox that a server uses: the one asked for, or else the one that ROLLOUT_SANDBOX names.

    It is never None, which would leave the choice to the machine where commands run. Raises SandboxError for
    ``none``, and for what is no kind.
    """
    kind = asked or os.environ.get(VARIABLE) or "auto"
    if kind == UNCONFINED:
        home = f"{VARIABLE} is" if asked is None else "it was asked for"
        raise SandboxError(
            f"A server runs the commands of whoever has a key, so it confines them, and {home} “{UNCONFINED}”."
        )
    if kind not in _CONFINING:
        raise SandboxError(f"There is no sandbox “{kind}”; a server's kinds are {', '.join(_CONFINING)}.")
    return kind


async def confines(kind: str) -> None:
    """Tries a kind that was asked for by name on this machine. Raises SandboxError where it does not work."""
    from rollout.sandbox.choice import NoSandboxError, find

    if kind == "auto":
        return
    try:
        await find(kind)
    except NoSandboxError as error:
        # What helps whoever runs commands of their own does not help here.
        raise SandboxError(error.found) from None


__all__ = ["confined", "confines"]
