"""together/MODEL: a model at Together AI. The key is in ``TOGETHER_API_KEY``."""

from __future__ import annotations

from rollout.models import AnyModel, Setup
from rollout.models._chat import ChatModel
from rollout.models._named import name_after
from rollout.models._provider import provider

ADDRESS = "https://api.together.xyz/v1"


def connect(model_id: str, setup: Setup) -> AnyModel:
    """The model called ``model_id``. Raises ConnectError when its key is missing."""
    model = name_after(model_id, "together", "meta-llama/Llama-3.3-70B-Instruct-Turbo")
    here = provider("together", ADDRESS, setup.environ, key_names=("TOGETHER_API_KEY",))
    return ChatModel(model_id, model, here, setup)


__all__ = ["ADDRESS", "connect"]
