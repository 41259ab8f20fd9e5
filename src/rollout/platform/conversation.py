"""How a call is made, without the network: what to send, when to send it again, and what the answer says.

:func:`converse` is a generator. It gives a :class:`Send` or a :class:`Pause`, is sent the answer or thrown the error of
httpx, and returns what the call reads. Both clients drive it, one by waiting and one by awaiting.
"""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from rollout.platform.calls import Call
from rollout.platform.endpoints import HOSTED, KEY_VARIABLE, Endpoint
from rollout.platform.errors import RolloutError
from rollout.platform.shapes import AnswerError, parse

TRIES = 4
"""How often a call is sent at most, where it may be sent again."""

API = "rollout-api"
"""The header by which a server says that it answers more than is published, and which version of that."""

_LONGEST_PAUSE = 30.0
_TRANSIENT = frozenset((408, 425, 429, 502, 503, 504))
_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Send:
    """A request that is to be sent."""

    method: str
    path: str
    params: Mapping[str, Any]
    content: bytes | None
    headers: Mapping[str, str]
    seconds: float
    in_all: float


@dataclass(frozen=True, slots=True)
class Pause:
    """A while that is to be waited, in seconds."""

    seconds: float


Conversation = Generator[Send | Pause, Any, Any]


def converse(call: Call[Any], endpoint: Endpoint, *, named: bool) -> Conversation:
    """Makes a call. Raises RolloutError.

    ``named`` says that the server knows ``Idempotency-Key``, so that it can be sent again whatever it is. A call that
    cannot be is only sent again when the first certainly did not arrive.
    """
    headers = dict(call.headers)
    content = None
    if call.body is not None:
        headers["content-type"] = "application/json"
        content = _written(call.body)
    if not call.is_safe:
        headers["idempotency-key"] = uuid4().hex
    request = Send(call.method, call.path, call.params, content, headers, call.seconds, call.in_all)
    may_repeat = call.is_safe or named
    for left in reversed(range(TRIES)):
        try:
            answer: httpx.Response = yield request
        except httpx.HTTPError as error:
            never_arrived = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
            if not left or not (may_repeat or never_arrived) or isinstance(error, httpx.UnsupportedProtocol):
                raise _no_answer(error, endpoint, arrived=not (may_repeat or never_arrived)) from error
            yield Pause(_pause(TRIES - left))
            continue
        # 429 says that nothing was done.
        if left and answer.status_code in _TRANSIENT and (may_repeat or answer.status_code == 429):
            wished = _wished(answer)
            yield Pause(_pause(TRIES - left) if wished is None else wished)
            continue
        return _read(call, answer, endpoint)
    raise AssertionError


def _written(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RolloutError(0, f"What was to be sent cannot be said in JSON: {error}.") from None


def _pause(tried: int) -> float:
    """Exponential with full jitter, as M. Brooker, “Exponential Backoff And Jitter” (AWS Architecture Blog, 2015)."""
    return random.uniform(0.0, min(_LONGEST_PAUSE, 0.5 * 2.0**tried))


def _wished(answer: httpx.Response) -> float | None:
    """The seconds that ``Retry-After`` asks for, as RFC 9110, section 10.2.3, has it."""
    text = answer.headers.get("retry-after", "")
    if text.isascii() and text.isdigit():
        return min(float(text), _LONGEST_PAUSE)
    try:
        return min(max(0.0, parsedate_to_datetime(text).timestamp() - time()), _LONGEST_PAUSE)
    except (ValueError, TypeError, OverflowError):
        return None


def _read(call: Call[Any], answer: httpx.Response, endpoint: Endpoint) -> Any:
    status = answer.status_code
    if 300 <= status < 400:
        raise _elsewhere(_masked(answer.headers.get("location", ""), endpoint), endpoint)
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind == "application/json" or kind.endswith("+json")
    if status == 204 or (status < 300 and not answer.content):
        return _told(call, {}, status, endpoint)
    if not is_json:
        raise _not_ours(answer, kind, endpoint)
    try:
        value = parse(answer.content)
    except AnswerError as error:
        raise not_as_published(error, endpoint, _excerpt(answer, endpoint), status) from None
    except ValueError:
        sentence = f"{endpoint.url} answered with what is no JSON, or is cut short."
        raise RolloutError(status, sentence, _excerpt(answer, endpoint), hint="Try it again.") from None
    if status >= 400:
        raise _refused(status, json.loads(_masked(json.dumps(value), endpoint)), endpoint)
    return _told(call, value, status, endpoint)


def _told(call: Call[Any], value: Any, status: int, endpoint: Endpoint) -> Any:
    try:
        return call.read(value)
    except AnswerError as error:
        raise not_as_published(error, endpoint, value, status) from None


def not_as_published(error: AnswerError, endpoint: Endpoint, value: Any, status: int = 200) -> RolloutError:
    """What is said of an answer, or an event, that is not as it should be."""
    sentence = f"{endpoint.url} answered otherwise than a rollout platform does: {error}."
    hint = f"Is it the right endpoint? {HOSTED} is the hosted one."
    return RolloutError(status, sentence, value, hint=hint)


def _elsewhere(place: str, endpoint: Endpoint) -> RolloutError:
    if place.startswith(f"https://{endpoint.url.removeprefix('http://')}/"):
        secure = f"https://{endpoint.url.removeprefix('http://')}"
        return RolloutError(
            401, f"{endpoint.url} answers at {secure} only.", hint=f"Use that: --endpoint {secure}"
        )
    sentence = f"{endpoint.url} did not accept the key, and points to “{place[:_SHOWN]}” instead."
    return RolloutError(401, sentence, hint=_login(endpoint))


def _masked(text: str, endpoint: Endpoint) -> str:
    """What a server said, without the key that it was sent."""
    return text.replace(endpoint.key, f"{endpoint.key[:6]}…") if endpoint.key else text


def _excerpt(answer: httpx.Response, endpoint: Endpoint) -> str:
    return _masked(answer.text, endpoint)[:_SHOWN]


def _refused(status: int, value: Any, endpoint: Endpoint) -> RolloutError:
    said = value if isinstance(value, dict) else {}
    words = said.get("error") or said.get("message")
    message = words[:_SHOWN] if isinstance(words, str) else f"{endpoint.url} refused it without a word."
    hint = said.get("hint")
    if not isinstance(hint, str):
        hint = _login(endpoint) if status == 401 else None
        path = urlsplit(endpoint.url).path
        if status == 404 and path:
            hint = (
                f"{endpoint.url} ends with “{path}”: is it {endpoint.url.removesuffix(path)} that is meant?"
            )
    return RolloutError(status, message, value, hint=hint)


def _not_ours(answer: httpx.Response, kind: str, endpoint: Endpoint) -> RolloutError:
    what = "a web page" if kind == "text/html" else f"“{kind}”" if kind else "something without a type"
    if answer.status_code in _TRANSIENT or answer.status_code >= 500:
        sentence = f"{endpoint.url} cannot answer now: what came is {what}."
        return RolloutError(
            answer.status_code, sentence, _excerpt(answer, endpoint), hint="Try it again in a while."
        )
    return RolloutError(
        answer.status_code,
        f"What answers at {endpoint.url} is no rollout platform: it sent {what}, and no JSON.",
        _excerpt(answer, endpoint),
        hint="Is the endpoint right, and is a proxy or a sign-in page between here and there?",
    )


def _no_answer(error: httpx.HTTPError, endpoint: Endpoint, *, arrived: bool) -> RolloutError:
    why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        why = "it took too long"
    hint = "Look at the network, and at the endpoint; --endpoint local needs neither network nor account."
    if arrived:
        hint = "It may have been done all the same: look before you do it again."
    return RolloutError(0, f"{endpoint.url} did not answer: {why}.", hint=hint)


def _login(endpoint: Endpoint) -> str:
    more = "" if endpoint.url == HOSTED else f" --endpoint {endpoint.url}"
    place = f"{endpoint.url}/settings/api-keys"
    return f"Get a key at {place}, and save it with `rollout login{more}` or in {KEY_VARIABLE}."


__all__ = ["API", "TRIES", "Conversation", "Pause", "Send", "converse", "not_as_published"]
