"""openai/MODEL: a model of OpenAI's, or of whatever speaks its protocol at ``OPENAI_BASE_URL``.

The key is in ``OPENAI_API_KEY``. A server of your own at ``OPENAI_BASE_URL`` may do without one.
"""

from __future__ import annotations

from rollout.models import AnyModel, Setup
from rollout.models._chat import ChatModel
from rollout.models._named import name_after
from rollout.models._provider import provider

ADDRESS = "https://api.openai.com/v1"


def connect(model_id: str, setup: Setup) -> AnyModel:
    """The model called ``model_id``. Raises ConnectError when its key is missing or its address is none."""
    model = name_after(model_id, "openai", "gpt-4o-mini")
    base_url = setup.environ.get("OPENAI_BASE_URL", "").strip()
    here = provider(
        "openai",
        base_url or ADDRESS,
        setup.environ,
        key_names=("OPENAI_API_KEY",),
        key_needed=not base_url,
        # The newer of OpenAI's own models refuse max_tokens; other servers do not all know its successor.
        max_tokens_key="max_tokens" if base_url else "max_completion_tokens",
        hint="A server of your own that takes no key is named by OPENAI_BASE_URL.",
    )
    return ChatModel(model_id, model, here, setup, listed=not base_url)


__all__ = ["ADDRESS", "connect"]
