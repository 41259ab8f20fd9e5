"""openai/MODEL: a model of OpenAI's, trained by its fine-tuning jobs, or by what speaks the same at OPENAI_BASE_URL.

The key is in ``OPENAI_API_KEY``. See https://platform.openai.com/docs/api-reference/fine-tuning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from rollout.models import ConnectError, Setup
from rollout.training.providers import Hyperparams, Progress, TrainingError, UncertainError

METHODS: dict[str, Hyperparams] = {
    "sft": dict.fromkeys(("n_epochs", "batch_size", "learning_rate_multiplier")),
}
JOBS = "https://platform.openai.com/finetune"

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
        """Uploads the rows and starts a job, which is asked for once. Raises TrainingError and UncertainError."""
        from openai import OpenAIError

        more: dict[str, Any] = {} if suffix is None else {"suffix": suffix}
        supervised = {"hyperparameters": dict(hyperparams)} if hyperparams else {}
        try:
            file = await self._client.files.create(file=("rollouts.jsonl", data), purpose="fine-tune")
        except OpenAIError as error:
            raise _words(error) from None
        file_id = _id_of(file)
        if file_id is None:
            raise TrainingError("The answer of “openai” has no “id”.", "Try it again.")
        try:
            # Its client tries again by itself, and each job is paid for.
            job = await self._client.with_options(max_retries=0).fine_tuning.jobs.create(
                model=model,
                training_file=file_id,
                method=cast(Any, {"type": "supervised", "supervised": supervised}),
                **more,
            )
        except OpenAIError as error:
            words = _words(error)
            raise (UncertainError(str(words)) if _is_unanswered(error) else words) from None
        except ValueError:
            raise UncertainError("The answer of “openai” is no JSON.") from None
        job_id = _id_of(job)
        if job_id is None:
            raise UncertainError("The answer of “openai” has no “id”.")
        return job_id

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


def _id_of(answer: object) -> str | None:
    """The id in an answer, which its client does not hold against anything."""
    found = getattr(answer, "id", None)
    return found if isinstance(found, str) and found else None


def _is_unanswered(error: Exception) -> bool:
    """Whether the request arrived, it may be, and nobody knows what came of it."""
    import httpx
    from openai import APIStatusError

    if isinstance(error, APIStatusError):
        return error.status_code >= 500 or error.status_code == 408
    return not isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def _words(error: Exception) -> TrainingError:
    from openai import APIStatusError, AuthenticationError

    if isinstance(error, AuthenticationError):
        return TrainingError("“openai” does not accept the key in OPENAI_API_KEY.", "Look at the key.")
    said = str(error)
    if isinstance(error, APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        said = str(body.get("message") or f"HTTP {error.status_code}")
    said = said.rstrip(".")
    if _is_unanswered(error):
        return TrainingError(f"“openai” did not say what came of it: {said}.", "Try it again.")
    if isinstance(error, APIStatusError):
        return TrainingError(f"“openai” refused it: {said}.")
    return TrainingError(f"“openai” could not be asked: {said}.", "Try it again.")


__all__ = ["JOBS", "METHODS", "OpenAI", "connect"]
