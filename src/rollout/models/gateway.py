"""VENDOR/MODEL: any other model, by way of the AI Gateway (https://vercel.com/docs/ai-gateway).

The gateway knows a model by its full name, so ``anthropic/claude-haiku-4.5`` is asked for as that; ``gateway/…``
before it goes there in any case, even for a vendor that has a road of its own here. The key is in
``AI_GATEWAY_API_KEY``, or in ``VERCEL_OIDC_TOKEN`` where Vercel runs it.
"""

from __future__ import annotations

from difflib import get_close_matches

from rollout.models import AnyModel, Setup, UnknownModelError
from rollout.models._chat import ChatModel
from rollout.models._provider import provider

ADDRESS = "https://ai-gateway.vercel.sh/v1"
_OTHERS = ("fireworks", "openai", "together")


def connect(model_id: str, setup: Setup) -> AnyModel:
    """The model called ``model_id``. Raises ConnectError when the key is missing."""
    model = model_id.removeprefix("gateway/")
    vendor, slash, name = model.partition("/")
    if not (vendor and slash and name):
        raise UnknownModelError(
            f"“{model_id}” does not say whose model.",
            "Write VENDOR/MODEL, such as anthropic/claude-haiku-4.5.",
        )
    close = get_close_matches(vendor, [*_OTHERS, *setup.settings.providers], n=1, cutoff=0.75)
    meant = f" Did you mean “{close[0]}/{name}”?" if close and close[0] != vendor else ""
    here = provider(
        "gateway",
        ADDRESS,
        setup.environ,
        key_names=("AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
        hint=f"“{vendor}” is asked by way of it; a server of your own goes into rollout.toml "
        f"under [providers.{vendor}].{meant}",
    )
    return ChatModel(model_id, model, here, setup)


__all__ = ["ADDRESS", "connect"]
