"""Which models the platform connects. Only this decides it: whoever has a key names models, and some of them open files
of the machine that they are connected on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rollout.models import ConnectError, is_elsewhere

_ACTING = ("noop", "oracle", "random")
_NOT_HERE = {
    "human": "nobody sits at a server",
    "replay": "a recording lies on the machine of whoever made it",
}
_PROVIDER = "Name a model as PROVIDER/MODEL, such as openai/gpt-4o."


def check_actor(model: str) -> None:
    """Raises ConnectError for a model that does not act in runs of the platform."""
    name = model.partition(":")[0]
    if is_elsewhere(model) or name in _ACTING:
        return
    if name in _NOT_HERE:
        raise ConnectError(
            f"“{name}” cannot act in a run of the platform: {_NOT_HERE[name]}.", "Use it with rollout test."
        )
    raise ConnectError(
        f"There is no model “{model[:80]}” here.",
        f"Of this machine {', '.join(_ACTING)} act in runs. Elsewhere: PROVIDER/MODEL.",
    )


def check_judges(verifier: Mapping[str, Any] | None) -> None:
    """Raises ConnectError for a verifier by which a model judges that is asked at no provider."""
    for _, error in refused_judges(verifier):
        raise error


def refused_judges(verifier: Mapping[str, Any] | None) -> Iterator[tuple[int, ConnectError]]:
    """The primitives of a sound verifier that name a judge which is not asked here, by their places."""
    for place, primitive in enumerate((verifier or {}).get("primitives", ())):
        if primitive["type"] == "llm_judge" and not is_elsewhere(primitive["model"]):
            named = f"“{primitive['name'][:80]}” names “{primitive['model'][:80]}” as its judge"
            yield place, ConnectError(f"{named}, and the platform asks only models of providers.", _PROVIDER)


__all__ = ["check_actor", "check_judges", "refused_judges"]
