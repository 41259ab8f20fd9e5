"""A model behind the chat-completions protocol: asks, asks again where that may help, and reads what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import orjson

from rollout.models import (
    Blame,
    Conversation,
    Exchange,
    ModelError,
    Request,
    Sampling,
    Setup,
    Turn,
    Usage,
)
from rollout.models._answer import (
    Answer,
    ErrorAnswerError,
    MalformedAnswerError,
    read_answer,
    without_secrets,
)
from rollout.models._http import Response, Wire, WireError
from rollout.models._prices import price_of
from rollout.models._provider import Provider
from rollout.models._redaction import redact
from rollout.models._refusal import Complaint, read_complaint, refusal
from rollout.models._second import NOT_ANSWERED, SecondAsker, most_seconds
from rollout.models._waiting import asked_wait, may_be_retried, wait_before
from rollout.settings import Price
from rollout.templates import Tool

# Where nothing has ever answered, it is the address that is wrong, and no patience mends that.
_ATTEMPTS_UNREACHED = 3
_MOST_RAW = 100_000
_MOST_TAILS = 256


@dataclass(frozen=True, slots=True)
class _Fault:
    """An attempt that failed, and may fare better the next time."""

    sentence: str
    charged_to: Blame
    asked: float | None = None
    usage: Usage | None = None
    reached: bool = True
    hint: str | None = None
    told: tuple[str, ...] = ()


class ChatModel:
    """One model at one provider. Keeps connections and nothing of what is said.

    Its requests have no place for a task's ground truth: it takes a :class:`rollout.models.Request`.
    """

    def __init__(
        self,
        model_id: str,
        model: str,
        provider: Provider,
        setup: Setup,
        *,
        listed: bool = True,
        random: Random | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.id = model_id
        self.model = model
        self.provider = provider
        self.price: Price | None = price_of(model_id, setup.settings, listed=listed)
        self._patience = setup.patience
        self._random = random or Random()
        self._pause = pause
        concurrency, patience = setup.concurrency, setup.patience
        self._wire = Wire(provider.address, provider.headers, connections=concurrency, patience=patience)
        self._spare = Wire(
            provider.address, provider.headers, connections=most_seconds(concurrency), patience=patience
        )
        self._asker = SecondAsker(self._wire.post, self._spare.post, concurrency=concurrency)
        self._head = b'{"model":' + orjson.dumps(model) + b',"messages":['
        self._tails: dict[tuple[int, Sampling], tuple[Sequence[Tool], bytes]] = {}
        self._has_answered = False

    @property
    def address(self) -> str:
        """Where it is asked. What follows a ``?`` is left out, since keys are given there too."""
        return self.provider.address.partition("?")[0]

    async def respond(self, request: Request) -> Turn:
        """The next turn. Raises ModelError when there is none, with what was tried on its ``exchange``."""
        body = self._body(request)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience.total
        retries: list[str] = []
        spent, attempts = Usage(), 0
        while True:
            attempts += 1
            within = deadline - loop.time()
            try:
                met = await self._attempt(body, request.sampling, within)
            except ModelError as error:
                had = error.exchange or Exchange()
                error.exchange = replace(had, usage=spent + had.usage, retries=tuple(retries))
                raise
            if isinstance(met, Turn):
                if not retries:
                    return met
                assert met.exchange is not None
                exchange = replace(met.exchange, retries=(*retries, *met.exchange.retries))
                return replace(met, usage=spent + met.usage, exchange=exchange)
            if met.usage is not None:
                spent += met.usage
            asked = met.asked
            retries += met.told
            wait = wait_before(attempts + 1, self._patience, self._random, asked=asked)
            ended = self._ended(met, attempts, wait, deadline - loop.time())
            if ended is not None:
                raise ModelError(
                    f"{met.sentence} {ended}",
                    charged_to=met.charged_to,
                    hint=met.hint,
                    exchange=Exchange(usage=spent, retries=tuple(retries)),
                )
            retries.append(met.sentence)
            await self._pause(wait)

    async def close(self) -> None:
        """Closes the connections."""
        self._asker.close()
        await self._wire.close()
        await self._spare.close()

    def _ended(self, fault: _Fault, attempts: int, wait: float, left: float) -> str | None:
        """Why it is not asked again after so many attempts, as a sentence; None when it is."""
        patience = self._patience
        most = patience.attempts
        if not fault.reached and not self._has_answered:
            most = min(most, _ATTEMPTS_UNREACHED)
        if attempts >= most:
            return f"It was asked {attempts} times." if attempts > 1 else "It was not asked again."
        if fault.asked is not None and fault.asked > patience.longest_asked:
            return f"It asks to be left alone for {fault.asked:.0f} seconds, which is too long to wait."
        if wait >= left:
            return f"The {patience.total:g} seconds for a turn are over."
        return None

    def _body(self, request: Request) -> bytes:
        messages = request.messages
        if not isinstance(messages, Conversation):
            messages = Conversation(messages)
        wire = messages.wire(reasoning=self.provider.send_reasoning)
        key = (id(request.tools), request.sampling)
        known = self._tails.get(key)
        if known is None:
            # The tools are kept with their bytes, so that no other list can come to have the same id.
            known = request.tools, self._tail(request.tools, request.sampling)
            if len(self._tails) >= _MOST_TAILS:
                self._tails.clear()
            self._tails[key] = known
        return b"".join((self._head, wire, known[1]))

    def _tail(self, tools: Sequence[Tool], sampling: Sampling) -> bytes:
        rest: dict[str, Any] = {}
        if tools:
            rest["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in tools
            ]
        rest |= self._parameters(sampling)
        return b"]}" if not rest else b"]," + orjson.dumps(rest)[1:]

    def _parameters(self, sampling: Sampling) -> dict[str, Any]:
        written = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            self.provider.max_tokens_key: sampling.max_tokens,
        }
        return {key: value for key, value in written.items() if value is not None}

    async def _attempt(self, body: bytes, sampling: Sampling, within: float) -> Turn | _Fault:
        name = f"“{self.provider.name}”"
        try:
            response = await self._asker.post(body, within)
        except WireError as error:
            sentence = redact(f"{name} {error}.", self.provider.secrets)
            hint = f"Its address is {self.provider.address}." if not error.reached else None
            if error.overlong:
                raise ModelError(sentence, charged_to="model") from None
            if error.hopeless:
                raise ModelError(sentence, charged_to="infrastructure", hint=hint, hopeless=True) from None
            return _Fault(sentence, "infrastructure", reached=error.reached, hint=hint)
        self._has_answered = True
        if response.status == 200:
            met = self._read(response, sampling)
        elif 200 < response.status < 300:
            met = _Fault(f"{name} answered with status {response.status}.", "infrastructure")
        else:
            met = self._refused(response, sampling)
        return replace(met, told=self._asked_again(response)) if isinstance(met, _Fault) else met

    def _refused(self, response: Response, sampling: Sampling, *, is_told: bool = True) -> _Fault:
        """The fault, when it may pass. Raises ModelError when it does not. ``is_told``: by the provider, the status."""
        complaint = read_complaint(response.body, self.provider.secrets)
        status = response.status
        sentence = _answered(self.provider.name, str(status) if is_told else "with an error", complaint)
        if not may_be_retried(status, response.headers) or complaint.is_about_money:
            if status >= 500 or status in (408, 409, 425, 429):
                raise ModelError(
                    sentence,
                    charged_to="infrastructure",
                    hopeless=complaint.is_about_money,
                    hint="Look at the account's plan and balance." if complaint.is_about_money else None,
                )
            raise refusal(
                status,
                complaint,
                provider=self.provider,
                model=self.model,
                sampling=self._parameters(sampling),
            )
        return _Fault(sentence, "infrastructure", asked=asked_wait(response.headers))

    def _read(self, response: Response, sampling: Sampling) -> Turn | _Fault:
        try:
            answer = without_secrets(read_answer(response.body), self.provider.secrets)
        except MalformedAnswerError as error:
            return _Fault(
                f"The answer of “{self.model}” is no chat completion: {error}.",
                error.charged_to,
                usage=self._priced(error.usage),
            )
        except ErrorAnswerError as error:
            return self._error_inside(error.error, response, sampling)
        if answer.finish == "content_filter" and not answer.calls:
            raise ModelError(
                f"The answer of “{self.model}” was cut off by the filter of “{self.provider.name}”.",
                charged_to="model",
                exchange=Exchange(finish=answer.finish, usage=self._priced(answer.usage)),
            )
        return self._turn(answer, response)

    def _error_inside(self, error: Any, response: Response, sampling: Sampling) -> _Fault:
        """An error in an answer of status 200 is what its own code says, else a fault of the provider's."""
        code = error.get("code") if isinstance(error, dict) else None
        told = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else 0
        is_told = 400 <= told < 600
        body = orjson.dumps({"error": error})
        return self._refused(
            Response(told if is_told else 502, response.headers, body), sampling, is_told=is_told
        )

    def _turn(self, answer: Answer, response: Response) -> Turn:
        # What a request uses that is dropped for another's answer is told by nobody. It asked the same.
        dropped = sum(not clause or clause == NOT_ANSWERED for _, clause in response.waits)
        usage = sum([self._priced(answer.usage)] * dropped, self._priced(answer.usage))
        raw = None
        if answer.remarks:
            raw = redact(response.body[:_MOST_RAW].decode("utf-8", "replace"), self.provider.secrets)
        exchange = Exchange(
            answer.finish, answer.served_by, usage, self._asked_again(response), answer.remarks, raw
        )
        return Turn(answer.text, answer.calls, usage, answer.reasoning, exchange)

    def _asked_again(self, response: Response) -> tuple[str, ...]:
        return tuple(
            f"“{self.provider.name}” had not answered after {wait:.1f} seconds, far longer than before, and was asked "
            f"for it a further time{f', which {refusal}' if refusal else ''}."
            for wait, refusal in response.waits
        )

    def _priced(self, usage: Usage) -> Usage:
        if self.price is None or usage.unmetered:
            return usage
        cost = self.price.of(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        return Usage(
            usage.input_tokens,
            usage.output_tokens,
            cost,
            usage.cached_tokens,
            usage.reasoning_tokens,
        )


def _answered(name: str, status: str, complaint: Complaint) -> str:
    sentence = f"“{name}” answered {status}{f': {complaint.words}' if complaint.words else ''}"
    return sentence if sentence[-1] in ".!?…" else f"{sentence}."


__all__ = ["ChatModel"]
