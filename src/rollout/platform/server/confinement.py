"""How a server confines commands: it runs those of whoever has a key, so never without a sandbox."""

from __future__ import annotations

from rollout.sandbox import VARIABLE, SandboxError, asked_for, chosen

UNCONFINED = "none"


def confined(asked: str | None) -> str:
    """The kind of sandbox that a server uses: the one asked for, or else the one that ROLLOUT_SANDBOX names.

    It is never None, which would leave the choice to the machine where commands run. Raises SandboxError for
    ``none``, and for what is no kind.
    """
    with chosen(asked):
        kind = asked_for()
    if kind == UNCONFINED:
        home = f"{VARIABLE} is" if asked is None else "it was asked for"
        raise SandboxError(
            f"A server runs the commands of whoever has a key, so it confines them, and {home} “{UNCONFINED}”."
        )
    return kind


async def confines(kind: str) -> None:
    """Tries a kind that was asked for by name on this machine. Raises SandboxError where it does not work."""
    from rollout.sandbox.choice import find

    if kind != "auto":
        await find(kind)


__all__ = ["confined", "confines"]
