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
from rollout.training.providers import Hyperparams, Progress, TrainingError

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

_ADDRESS = "https://api.together.xyz/v1"
_SECONDS = 120.0


def connect(setup: Setup) -> Together:
    """The provider. Raises ConnectError where its key is missing."""
    key = setup.environ.get("TOGETHER_API_KEY", "").strip()
    address = setup.environ.get("TOGETHER_BASE_URL", "").strip()
    if not key:
        raise ConnectError("“together” trains nothing without a key.", "Set TOGETHER_API_KEY.")
    return Together(key, address or _ADDRESS)


class Together:
    """Together's fine-tuning."""

    def __init__(self, key: str, address: str) -> None:
        import httpx

        headers = {"authorization": f"Bearer {key}"}
        self._client = httpx.AsyncClient(base_url=address, headers=headers, timeout=_SECONDS)

    async def begin(
        self, model: str, data: bytes, *, method: str, suffix: str | None, hyperparams: Mapping[str, Any]
    ) -> str:
        """Uploads the rows and starts a job. Raises TrainingError. Neither is asked twice, since both would count."""
        given = dict(hyperparams)
        beta = {"dpo_beta": given.pop("beta")} if "beta" in given else {}
        file = await self._ask(
            "POST",
            "/files/upload",
            files={"file": ("rollouts.jsonl", data, "application/jsonl")},
            data={"purpose": "fine-tune", "file_name": "rollouts.jsonl", "file_type": "jsonl"},
        )
        job = await self._ask(
            "POST",
            "/fine-tunes",
            json={
                **given,
                "model": model,
                "training_file": _text(file, "id"),
                "training_method": {"method": method, **beta},
                **({} if suffix is None else {"suffix": suffix}),
            },
        )
        return _text(job, "id")

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
        except httpx.HTTPError as error:
            said = str(error).rstrip(".") or type(error).__name__
            raise TrainingError(f"“together” could not be asked: {said}.", "Try it again.") from None
        if answer.status_code in (401, 403):
            raise TrainingError("“together” does not accept the key in TOGETHER_API_KEY.", "Look at the key.")
        value = _object(answer)
        if not answer.is_success or value is None:
            raise TrainingError(f"“together” refused it: {_said(answer, value)}.")
        return value


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
        raise TrainingError(f"The answer of “together” has no “{key}”.", "Try it again.")
    return found


__all__ = ["METHODS", "Together", "connect"]
