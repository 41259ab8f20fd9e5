"""Models at servers that the project's settings name: NAME/model, for any NAME under ``[providers]``."""

from __future__ import annotations

from rollout.models import AnyModel, Setup, UnknownModelError


def name_after(model_id: str, vendor: str, example: str) -> str:
    """The model's own name: what follows the provider's in its id. Raises UnknownModelError when nothing does."""
    name = model_id.removeprefix(f"{vendor}/")
    if name == model_id or not name.strip() or name != name.strip():
        raise UnknownModelError(
            f"“{model_id}” does not say which model.", f"Write {vendor}/MODEL, such as {vendor}/{example}."
        )
    return name


def connect_named(model_id: str, setup: Setup) -> AnyModel:
    """The model ``NAME/model`` at the server that the settings call ``NAME``. Raises ConnectError."""
    from rollout.models._chat import ChatModel
    from rollout.models._provider import provider

    name = model_id.partition("/")[0]
    told = setup.settings.providers[name]
    here = provider(
        name,
        told.base_url,
        setup.environ,
        key_names=(told.api_key_env,) if told.api_key_env else (),
        key_needed=told.api_key_env is not None,
        headers=told.headers,
        max_tokens_key=told.max_tokens_key,
        send_reasoning=told.send_reasoning,
    )
    return ChatModel(model_id, name_after(model_id, name, "model-name"), here, setup, listed=False)


__all__ = ["connect_named", "name_after"]
