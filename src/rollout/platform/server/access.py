"""Who asks, and what they may: keys in the header of programs, sessions in the cookie of browsers.

A request with a cookie that changes anything brings the token of its session, as no other site can make a browser do.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import sha256
from hmac import compare_digest

from starlette.requests import Request
from starlette.responses import Response

from rollout.platform.server.figures import Figures
from rollout.platform.server.http import ApiError
from rollout.platform.store import Store, StoreError, keys
from rollout.platform.store.keys import Key, Scope, Session

COOKIE = "rollout_session"
CSRF = "x-csrf-token"

_REMEMBERED = 2.0
"""Seconds that a key is taken for good after it was looked up; one that another process revokes is good so long."""

_BETWEEN_NOTES = 20.0

_FAILURES, _SECONDS_OF_FAILURES = 20, 60.0
_MOST_REMEMBERED = 4096

Endpoint = Callable[[Request], Awaitable[Response]]

_log = logging.getLogger("rollout")

EVERYBODY = Key("", "local", "", Scope.ADMIN, 0, None, None, None)
"""Who asks ``local``: the user whose process it is."""


class Access:
    """Tells by a request whose it is. With ``everybody`` it is whoever asks: there is no socket to ask at."""

    def __init__(self, store: Store, figures: Figures, *, everybody: bool = False) -> None:
        self._store = store
        self._figures = figures
        self._everybody = everybody
        self._known: OrderedDict[bytes, tuple[float, Key]] = OrderedDict()
        self._failures: OrderedDict[str, list[float]] = OrderedDict()
        self._used: set[str] = set()
        self._rates: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def key_of(self, request: Request) -> Key:
        """The key of whoever asks. Raises ApiError with 401, or 429 after many wrong ones."""
        if self._everybody:
            return EVERYBODY
        header = request.headers.get("authorization")
        if header is None:
            return (await self._session_for(request)).key
        kind, _, whole = header.partition(" ")
        if kind.lower() != "bearer" or not whole:
            raise _unknown("The header “Authorization” is to be “Bearer” and a key.")
        return await self._key(request, whole.strip(), in_form=False)

    async def session_of(self, request: Request) -> Session | None:
        """The session of a browser; None where it is not signed in. Raises ApiError where its key asks too often."""
        if self._everybody:
            return Session(EVERYBODY, "")
        session = await self._session(request)
        if session is not None:
            self._take(session.key)
        return session

    async def may_go_on(self, request: Request) -> bool:
        """Whether what answers a request for long is to go on: a key may be revoked, or a session ended, meanwhile."""
        if self._everybody:
            return True
        header = request.headers.get("authorization")
        if header is None:
            return await self._session(request) is not None
        return await self._store.aglance(keys.known, header.partition(" ")[2].strip()) is not None

    async def sign_in(self, request: Request, whole: str) -> tuple[Session, str]:
        """A new session for a key, and its token. Raises ApiError."""
        key = await self._key(request, whole.strip(), in_form=True)
        return await self._store.awrite(keys.sign_in, key)

    async def sign_out(self, request: Request) -> None:
        """Ends the session of a browser."""
        if token := request.cookies.get(COOKIE):
            await self._store.awrite(keys.sign_out, token)

    def check_token(self, session: Session, token: str) -> None:
        """Holds what a form sent along against the session. Raises ApiError."""
        if not self._everybody and not compare_digest(token.encode(), session.csrf.encode()):
            raise ApiError(403, "The page is out of date.", "Load it again.")

    def forget(self) -> None:
        """Looks every key up again, as after one was revoked."""
        self._known.clear()

    async def keep_uses(self) -> None:
        """Notes down now and then which keys were used, until it is cancelled."""
        while True:
            await asyncio.sleep(_BETWEEN_NOTES)
            await self.note_uses()

    async def note_uses(self) -> None:
        """Notes down which keys were used; those that cannot be written now are noted the next time."""
        used, self._used = self._used, set()
        if not used:
            return
        try:
            await self._store.awrite(keys.used, used)
        except StoreError as error:
            self._used |= used
            _log.error("When keys were used last could not be noted. %s", error)

    async def _session_for(self, request: Request) -> Session:
        session = await self.session_of(request)
        if session is None:
            raise _unknown("There is no key in the request.")
        if request.method not in ("GET", "HEAD"):
            self.check_token(session, request.headers.get(CSRF, ""))
        return session

    async def _session(self, request: Request) -> Session | None:
        token = request.cookies.get(COOKIE)
        return None if not token else await self._store.aglance(keys.session, token)

    async def _key(self, request: Request, whole: str, *, in_form: bool) -> Key:
        hashed, moment = sha256(whole.encode("utf-8", "replace")).digest(), time.monotonic()
        until, key = self._known.get(hashed, (0.0, None))
        if key is None or until < moment:
            key = await self._store.aglance(keys.known, whole)
            if key is None:
                self._figures.wrong_key(in_form=in_form)
                # Many may come from the address of one proxy, so only wrong keys are held against it.
                self._note_failure(request.client.host if request.client else "")
                raise _unknown("The key is not known here, or was revoked.")
            self._known[hashed] = (moment + _REMEMBERED, key)
            if len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
        self._take(key)
        return key

    def _take(self, key: Key) -> None:
        """Counts a request with a key, whichever way it came. Raises ApiError where there are too many."""
        self._limit(key)
        self._used.add(key.id)

    def _note_failure(self, place: str) -> None:
        """Counts a wrong key. Raises ApiError where there are too many."""
        moment = time.monotonic()
        recent = [each for each in self._failures.pop(place, ()) if each > moment - _SECONDS_OF_FAILURES]
        is_many = len(recent) >= _FAILURES
        self._failures[place] = recent if is_many else [*recent, moment]
        if len(self._failures) > _MOST_REMEMBERED:
            self._failures.popitem(last=False)
        if is_many:
            wait = max(1, round(recent[0] + _SECONDS_OF_FAILURES - moment))
            raise ApiError(
                429,
                "Too many wrong keys came from this address.",
                f"Wait {wait} seconds.",
                headers={"retry-after": str(wait)},
            )

    def _limit(self, key: Key) -> None:
        """A bucket that fills as fast as the key's limit, and holds a minute's worth."""
        if key.rate is None:
            return
        moment = time.monotonic()
        left, then = self._rates.pop(key.id, (float(key.rate), moment))
        left = min(float(key.rate), left + (moment - then) * key.rate / 60)
        allowed = left >= 1
        self._rates[key.id] = (left - 1 if allowed else left, moment)
        if len(self._rates) > _MOST_REMEMBERED:
            self._rates.popitem(last=False)
        if not allowed:
            wait = max(1, round((1 - left) * 60 / key.rate))
            raise ApiError(
                429,
                f"The key “{key.name}” may ask {key.rate} times a minute.",
                f"Wait {wait} seconds.",
                headers={"retry-after": str(wait)},
            )


def needs(scope: Scope) -> Callable[[Endpoint], Endpoint]:
    """Has an endpoint answer only to keys that are good for ``scope``; ``request.state.key`` is the key."""

    def wrap(endpoint: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            key = await request.app.state.access.key_of(request)
            if not key.allows(scope):
                raise ApiError(
                    403,
                    f"The key “{key.name}” may {key.scope}, and this needs {scope}.",
                    "Use another key; whoever runs the server makes them: rollout keys create.",
                )
            request.state.key = key
            return await endpoint(request)

        guarded.__name__ = endpoint.__name__
        guarded.__doc__ = endpoint.__doc__
        return guarded

    return wrap


def _unknown(sentence: str) -> ApiError:
    return ApiError(401, sentence, headers={"www-authenticate": "Bearer"})


__all__ = ["COOKIE", "CSRF", "EVERYBODY", "Access", "needs"]
