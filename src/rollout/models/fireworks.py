"""fireworks/MODEL: a model at Fireworks AI. The key is in ``FIREWORKS_API_KEY``."""

from __future__ import annotations

from rollout.models import AnyModel, Setup
from rollout.models._chat import ChatModel
from rollout.models._named import name_after
from rollout.models._provider import provider

ADDRESS = "https://api.fireworks.ai/inference/v1"


def connect(model_id: str, setup: Setup) -> AnyModel:
    """The model called ``model_id``. Raises ConnectError when its key is missing."""
    model = name_after(model_id, "fireworks", "accounts/fireworks/models/llama-v3p3-70b-instruct")
    here = provider("fireworks", ADDRESS, setup.environ, key_names=("FIREWORKS_API_KEY",))
    return ChatModel(model_id, model, here, setup)


__all__ = ["ADDRESS", "connect"]
