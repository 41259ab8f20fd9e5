"""openai/MODEL: a model of OpenAI's, trained by its fine-tuning jobs, or by what speaks the same at OPENAI_BASE_URL.

The key is in ``OPENAI_API_KEY``. See https://platform.openai.com/docs/api-reference/fine-tuning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from rollout.models import ConnectError, Setup
from rollout.training.providers import Hyperparams, Progress, TrainingError

METHODS: dict[str, Hyperparams] = {
    "sft": dict.fromkeys(("n_epochs", "batch_size", "learning_rate_multiplier")),
}

_TRIES = 3
_SECONDS = 120.0


def connect(setup: Setup) -> OpenAI:
    """The provider. Raises ConnectError where its key is missing."""
    key = setup.environ.get("OPENAI_API_KEY", "").strip()
    address = setup.environ.get("OPENAI_BASE_URL", "").strip()
    if not key:
        raise ConnectError("“openai” trains nothing without a key.", "Set OPENAI_API_KEY.")
    return OpenAI(key, address or None)


class OpenAI:
    """OpenAI's fine-tuning, through its own client."""

    def __init__(self, key: str, address: str | None) -> None:
        from openai import AsyncOpenAI

        self._client = AsyncOpenAI(api_key=key, base_url=address, max_retries=_TRIES, timeout=_SECONDS)

    async def begin(
        self, model: str, data: bytes, *, method: str, suffix: str | None, hyperparams: Mapping[str, Any]
    ) -> str:
        """Uploads the rows and starts a job. Raises TrainingError."""
        from openai import OpenAIError

        more: dict[str, Any] = {} if suffix is None else {"suffix": suffix}
        supervised = {"hyperparameters": dict(hyperparams)} if hyperparams else {}
        try:
            file = await self._client.files.create(file=("rollouts.jsonl", data), purpose="fine-tune")
            job = await self._client.fine_tuning.jobs.create(
                model=model,
                training_file=file.id,
                method=cast(Any, {"type": "supervised", "supervised": supervised}),
                **more,
            )
        except OpenAIError as error:
            raise _words(error) from None
        return job.id

    async def look(self, job_id: str) -> Progress:
        """How far a job is. Raises TrainingError."""
        from openai import OpenAIError

        try:
            job = await self._client.fine_tuning.jobs.retrieve(job_id)
        except OpenAIError as error:
            raise _words(error) from None
        reason = job.error.message if job.error is not None else None
        return Progress(job.status, job.fine_tuned_model, reason or None)

    async def close(self) -> None:
        """Gives the connections back."""
        await self._client.close()


def _words(error: Exception) -> TrainingError:
    from openai import APIStatusError, AuthenticationError

    if isinstance(error, AuthenticationError):
        return TrainingError("“openai” does not accept the key in OPENAI_API_KEY.", "Look at the key.")
    if isinstance(error, APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        said = body.get("message") or f"HTTP {error.status_code}"
        return TrainingError(f"“openai” refused it: {str(said).rstrip('.')}.")
    return TrainingError(f"“openai” could not be asked: {str(error).rstrip('.')}.", "Try it again.")


__all__ = ["METHODS", "OpenAI", "connect"]
