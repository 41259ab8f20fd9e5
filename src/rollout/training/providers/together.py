"""together/MODEL: a model at Together AI, trained by its fine-tuning jobs.

The key is in ``TOGETHER_API_KEY``; ``TOGETHER_BASE_URL`` names another address. See
https://docs.together.ai/reference/post-fine-tunes and https://docs.together.ai/reference/upload-file. Asked over HTTP:
its own client brings a second command-line framework and another version of rich than this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rollout.models import ConnectError, Setup
from rollout.training.providers import Hyperparams, Progress, TrainingError, UncertainError

if TYPE_CHECKING:
    import httpx

_ALWAYS: Hyperparams = {
    **dict.fromkeys(
        (
            "n_epochs",
            "n_checkpoints",
            "batch_size",
            "learning_rate",
            "warmup_ratio",
            "max_grad_norm",
            "weight_decay",
            "random_seed",
            "packing",
            "train_on_inputs",
        )
    ),
    "lr_scheduler": {
        "lr_scheduler_type": None,
        "lr_scheduler_args": dict.fromkeys(("min_lr_ratio", "num_cycles")),
    },
    "training_type": dict.fromkeys(
        ("type", "lora_r", "lora_alpha", "lora_dropout", "lora_trainable_modules")
    ),
}
METHODS: dict[str, Hyperparams] = {"sft": _ALWAYS, "dpo": {"beta": None, **_ALWAYS}}
JOBS = "https://api.together.ai/jobs"

_ADDRESS = "https://api.together.xyz/v1"
_SECONDS = 120.0


def connect(setup: Setup) -> Together:
    """The provider. Raises ConnectError where its key is missing."""
    key = setup.environ.get("TOGETHER_API_KEY", "").strip()
    address = setup.environ.get("TOGETHER_BASE_URL", "").strip()
    if not key:
        raise ConnectError("“together” trains nothing without a key.", "Set TOGETHER_API_KEY.")
    return Together(key, address or _ADDRESS)


class _UnansweredError(TrainingError):
    """A request that arrived, it may be, and of which nobody knows what came."""


class Together:
    """Together's fine-tuning."""

    def __init__(self, key: str, address: str) -> None:
        import httpx

        headers = {"authorization": f"Bearer {key}"}
        self._client = httpx.AsyncClient(base_url=address, headers=headers, timeout=_SECONDS)

    async def begin(
        self, model: str, data: bytes, *, method: str, suffix: str | None, hyperparams: Mapping[str, Any]
    ) -> str:
        """Uploads the rows and starts a job. Neither is asked twice, since both would count.

        Raises TrainingError and UncertainError.
        """
        given = dict(hyperparams)
        beta = {"dpo_beta": given.pop("beta")} if "beta" in given else {}
        file = await self._ask(
            "POST",
            "/files/upload",
            files={"file": ("rollouts.jsonl", data, "application/jsonl")},
            data={"purpose": "fine-tune", "file_name": "rollouts.jsonl", "file_type": "jsonl"},
        )
        asked = {
            **given,
            "model": model,
            "training_file": _text(file, "id"),
            "training_method": {"method": method, **beta},
            **({} if suffix is None else {"suffix": suffix}),
        }
        try:
            return _text(await self._ask("POST", "/fine-tunes", json=asked), "id")
        except _UnansweredError as error:
            raise UncertainError(str(error)) from None

    async def look(self, job_id: str) -> Progress:
        """How far a job is. Raises TrainingError."""
        job = await self._ask("GET", f"/fine-tunes/{quote(job_id, safe='')}")
        model = job.get("output_name") or job.get("model_output_name")
        status = _text(job, "status")
        events = job.get("events")
        last = events[-1] if isinstance(events, list) and events and isinstance(events[-1], dict) else {}
        return Progress(
            status,
            model if status == "completed" and isinstance(model, str) else None,
            str(last.get("message") or "It failed.") if status == "error" else None,
        )

    async def close(self) -> None:
        """Gives the connections back."""
        await self._client.aclose()

    async def _ask(self, verb: str, path: str, **more: Any) -> dict[str, Any]:
        import httpx

        try:
            answer = await self._client.request(verb, path, **more)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise TrainingError(f"“together” could not be asked: {_why(error)}.", "Try it again.") from None
        except httpx.HTTPError as error:
            raise _unanswered(_why(error)) from None
        if answer.status_code in (401, 403):
            raise TrainingError("“together” does not accept the key in TOGETHER_API_KEY.", "Look at the key.")
        value = _object(answer)
        if answer.is_success and value is not None:
            return value
        said = _said(answer, value)
        if 300 <= answer.status_code < 500 and answer.status_code != 408:
            raise TrainingError(f"“together” refused it: {said}.")
        raise _unanswered(said)


def _unanswered(said: str) -> _UnansweredError:
    return _UnansweredError(f"“together” did not say what came of it: {said}.", "Try it again.")


def _why(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


def _object(answer: httpx.Response) -> dict[str, Any] | None:
    try:
        value = answer.json()
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _said(answer: httpx.Response, value: dict[str, Any] | None) -> str:
    error = (value or {}).get("error")
    message = error.get("message") if isinstance(error, dict) else (value or {}).get("message")
    return str(message or f"HTTP {answer.status_code}").rstrip(".")[:500]


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found:
        raise _UnansweredError(f"The answer of “together” has no “{key}”.", "Try it again.")
    return found


__all__ = ["JOBS", "METHODS", "Together", "connect"]
