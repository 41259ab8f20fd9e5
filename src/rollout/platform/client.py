"""The client of the platform, in two twins: :class:`Client` waits, :class:`AsyncClient` is awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from math import inf
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from rollout.platform import calls, results
from rollout.platform.calls import Call, Plan
from rollout.platform.conversation import API, Pause, Send, converse
from rollout.platform.credentials import CredentialsError
from rollout.platform.endpoints import Endpoint, EndpointError, choose
from rollout.platform.errors import RolloutError
from rollout.platform.watching import Event, Watch

T = TypeVar("T")

_SECONDS_TO_CONNECT = 10.0
_LARGEST = 1 << 30
"""Bytes of an answer that are read at most."""


class _Common:
    """What both clients are: an endpoint, and what is known of the server there."""

    def __init__(self, api_key: str | None = None, endpoint: str | Endpoint | None = None) -> None:
        """``endpoint`` is ``local`` or an address; without one, see :func:`rollout.platform.endpoints.choose`.

        Raises RolloutError where there is no key for it.
        """
        if not isinstance(endpoint, Endpoint):
            try:
                endpoint = choose(endpoint, key=api_key)
            except (EndpointError, CredentialsError) as error:
                raise RolloutError(401, str(error), hint=error.hint) from None
        self._endpoint = endpoint
        self._api: str | None = "1" if endpoint.is_local else None

    @property
    def endpoint(self) -> str:
        """The address that is asked, or ``local``."""
        return self._endpoint.url

    @property
    def api_key(self) -> str | None:
        """The key that is sent; None for ``local``."""
        return self._endpoint.key

    @property
    def answers_more(self) -> bool:
        """Whether the server has said that it answers more than is published. False before the first answer."""
        return self._api is not None

    def _settings(self) -> dict[str, Any]:
        headers = {"accept": "application/json"}
        if self._endpoint.key is not None:
            headers["authorization"] = f"Bearer {self._endpoint.key}"
        return {
            "base_url": "http://local" if self._endpoint.is_local else self._endpoint.url,
            "headers": headers,
            # A redirect is the server's way to say that it does not know the key.
            "follow_redirects": False,
        }

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Tells of an endpoint, or of a proxy in the process's environment, that is no address."""
        try:
            yield
        except (httpx.InvalidURL, ValueError) as error:
            raise RolloutError(
                0,
                f"{self._endpoint.url} cannot be asked: {error}.",
                hint="Look at the endpoint, and at HTTP_PROXY, HTTPS_PROXY and ALL_PROXY where they are set.",
            ) from None

    def _request(self, client: httpx.Client | httpx.AsyncClient, step: Send) -> httpx.Request:
        return client.build_request(
            step.method,
            step.path,
            params=dict(step.params) or None,
            content=step.content,
            headers=dict(step.headers),
            timeout=httpx.Timeout(step.seconds, connect=_SECONDS_TO_CONNECT),
        )

    def _heard(self, answer: httpx.Response, pieces: list[bytes]) -> httpx.Response:
        """The answer with all of its body, which was decoded as it came."""
        self._api = answer.headers.get(API, self._api)
        headers = [
            (name, value)
            for name, value in answer.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
        ]
        return httpx.Response(answer.status_code, headers=headers, content=b"".join(pieces))

    def _too_large(self) -> RolloutError:
        return RolloutError(
            0,
            f"{self._endpoint.url} sends more than {_LARGEST >> 20:,} MB, which is no answer of a platform.",
            hint="Is the endpoint right?",
        )

    def _too_slow(self, step: Send) -> RolloutError:
        hint = "Look at the network, and whether the endpoint is right."
        if step.method not in ("GET", "HEAD"):
            hint = "It may have been done all the same: look before you do it again."
        return RolloutError(
            0, f"{self._endpoint.url} has not answered in whole after {step.in_all:,.0f} seconds.", hint=hint
        )


def _fulfil(sent: Future[httpx.Response], exchange: Callable[[], httpx.Response]) -> None:
    try:
        answer = exchange()
    except BaseException as error:
        sent.set_exception(error)
    else:
        sent.set_result(answer)


class Client(_Common):
    """Asks the platform. Safe to share between threads; close it, or use it in a ``with``.

    Every method raises RolloutError. What they give has the names of the wire: see :mod:`rollout.platform.results`.
    """

    def __init__(self, api_key: str | None = None, endpoint: str | Endpoint | None = None) -> None:
        super().__init__(api_key, endpoint)
        transport: httpx.BaseTransport | None = None
        if self._endpoint.is_local:
            from rollout.platform.local import LocalTransport

            transport = LocalTransport()
        with self._sound():
            self._http = httpx.Client(transport=transport, **self._settings())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the connections back; of ``local``, ends what is under way, to be gone on with later, and warns of
        it, where no other client is left."""
        self._http.close()

    def _ask(self, asked: Call[T] | Plan[T]) -> T:
        if isinstance(asked, Call):
            return self._call(asked)
        try:
            call = next(asked)
            while True:
                call = asked.send(self._call(call))
        except StopIteration as end:
            value: T = end.value
            return value

    def _call(self, call: Call[T]) -> T:
        talk = converse(call, self._endpoint, named=self.answers_more)
        try:
            step = next(talk)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    step = talk.send(None)
                    continue
                try:
                    with self._sound():
                        answer = self._send(step)
                except httpx.HTTPError as error:
                    step = talk.throw(error)
                else:
                    step = talk.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value

    def _send(self, step: Send) -> httpx.Response:
        if self._endpoint.is_local:
            return self._exchange(step)
        sent: Future[httpx.Response] = Future()
        # Only from beside is a request given up that comes byte by byte, and never to the end of its head.
        Thread(target=_fulfil, args=(sent, partial(self._exchange, step)), daemon=True).start()
        try:
            return sent.result(step.in_all)
        except TimeoutError:
            raise self._too_slow(step) from None

    def _exchange(self, step: Send) -> httpx.Response:
        until = inf if self._endpoint.is_local else time.monotonic() + step.in_all
        answer = self._http.send(self._request(self._http, step), stream=True)
        try:
            pieces, size = [], 0
            for piece in answer.iter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > _LARGEST:
                    raise self._too_large()
                if time.monotonic() > until:
                    raise self._too_slow(step)
            return self._heard(answer, pieces)
        finally:
            answer.close()

    def list_environments(self) -> list[results.EnvironmentEntry]:
        """All environments, by slug."""
        return self._ask(calls.list_environments())

    def get_environment(self, slug: str, *, digest: str | None = None) -> results.Environment:
        """An environment, as it is now or as the version of that digest."""
        return self._ask(calls.get_environment(slug, digest))

    def list_versions(self, slug: str) -> list[results.Version]:
        """All versions of an environment, the newest first."""
        return self._ask(calls.list_versions(slug))

    def push_environment(
        self, payload: Mapping[str, Any], *, instead_of: str | None = None
    ) -> results.Pushed:
        """Creates or updates an environment; with ``instead_of``, only where that digest is held (``none``: nothing).

        Where the server answers more than is published, ``payload`` may have a ``verifier``."""
        return self._ask(calls.push_environment(payload, instead_of=instead_of))

    def push_verifier(self, slug: str, verifier: Mapping[str, Any]) -> Any:
        """Sets how an environment is judged."""
        return self._ask(calls.push_verifier(slug, verifier))

    def list_runs(
        self, limit: int = 20, *, environment: str | None = None, status: results.Status | None = None
    ) -> list[results.Run]:
        """The newest runs first, ``limit`` at most; ``environment`` is a slug."""
        return self._ask(calls.list_runs(limit, environment=environment, status=status))

    def create_run(
        self,
        env_slug: str,
        model: str,
        n: int = 1,
        temperature: float | None = 0.7,
        max_tool_calls: int = 20,
        name: str | None = None,
        parent_run_id: str | None = None,
        **more: Any,
    ) -> results.CreatedRun:
        """Starts a run of ``n`` rollouts of each task.

        ``more`` has other members of :class:`rollout.platform.results.RunRequest`, by their names there. On ``local``
        this process does it: follow it with :meth:`watch_run`, or it ends, to be gone on with, when the client does."""
        return self._ask(
            calls.create_run(env_slug, model, n, temperature, max_tool_calls, name, parent_run_id, more)
        )

    def get_run(self, run_id: str, include_rollouts: bool = False) -> dict[str, Any]:
        """``{"run": …}``, and its ``rollouts`` where they are asked for."""
        return self._ask(calls.get_run_in_full(run_id, include_rollouts))

    def get_rollouts(self, run_id: str, *, outcome: results.Outcome | None = None) -> list[results.Rollout]:
        """The rollouts of a run, without their transcripts."""
        return self._ask(calls.get_rollouts(run_id, outcome=outcome))

    def passing_rollout_ids(self, run_id: str) -> list[str]:
        """The ids of the rollouts that passed."""
        return self._ask(calls.passing_rollout_ids(run_id))

    def get_rollout(self, run_id: str, rollout_id: str) -> results.RolloutWithTrace:
        """A rollout with its transcript."""
        return self._ask(calls.get_rollout(run_id, rollout_id))

    def cancel_run(self, run_id: str) -> results.Run:
        """Ends a run; what is done is kept."""
        return self._ask(calls.cancel_run(run_id))

    def resume_run(self, run_id: str) -> results.Run:
        """Goes on with a run that ended before all was done."""
        return self._ask(calls.resume_run(run_id))

    def list_training_jobs(self) -> list[results.TrainingJob]:
        """All training jobs."""
        return self._ask(calls.list_training_jobs())

    def create_training_job(
        self,
        source_run_id: str,
        rollout_ids: Sequence[str],
        base_model: str,
        method: str = "sft",
        suffix: str | None = None,
        hyperparams: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Starts the training of a model on rollouts: ``{"id": …, "providerJobId": …}``."""
        return self._ask(
            calls.create_training_job(source_run_id, rollout_ids, base_model, method, suffix, hyperparams)
        )

    def get_training_job(self, job_id: str) -> results.TrainingJob:
        """A training job, as its provider says it is now."""
        return self._ask(calls.get_training_job(job_id))

    def generate_environment(
        self, description: str, template: str, model: str | None = None, *, max_cost: float | None = None
    ) -> dict[str, Any]:
        """Has the platform write an environment: ``{config | schema + seed, tasks, verifier?, _warnings}``.

        ``max_cost`` is in US dollars, for a platform that answers more than is published. What a model wrote and
        does not hold is an error, with it as ``rejected`` in its body."""
        return self._ask(calls.generate_environment(description, template, model, max_cost))

    def refine_environment(
        self,
        current: Mapping[str, Any],
        instruction: str,
        template: str,
        model: str | None = None,
        *,
        max_cost: float | None = None,
    ) -> dict[str, Any]:
        """Has the platform change an environment as the instruction says; the same shape."""
        return self._ask(calls.refine_environment(current, instruction, template, model, max_cost))

    def whoami(self) -> results.Whoami:
        """The key that is used."""
        return self._ask(calls.whoami())

    def list_keys(self) -> list[results.Key]:
        """All keys of the server."""
        return self._ask(calls.list_keys())

    def create_key(self, name: str, scope: str = "write") -> results.Key:
        """A new key, told whole this once."""
        return self._ask(calls.create_key(name, scope))

    def revoke_key(self, key_id: str) -> Any:
        """Makes a key useless."""
        return self._ask(calls.revoke_key(key_id))

    def watch_run(self, run_id: str) -> Iterator[Event]:
        """What befalls a run, as it does, until it is over."""
        watch = Watch(run_id, self._endpoint)
        while not watch.over:
            if watch.looks:
                yield from watch.looked(self._ask(calls.get_run(run_id)))
            else:
                try:
                    with self._http.stream(
                        "GET", watch.path, headers=watch.headers, timeout=watch.timeout
                    ) as answer:
                        for piece in answer.iter_bytes() if watch.accepts(answer) else ():
                            yield from watch.read(piece)
                    watch.ended()
                except httpx.HTTPError as error:
                    watch.broken(error)
            if not watch.over:
                time.sleep(watch.pause)


class AsyncClient(_Common):
    """As :class:`Client`, for an event loop: every method is awaited."""

    def __init__(self, api_key: str | None = None, endpoint: str | Endpoint | None = None) -> None:
        super().__init__(api_key, endpoint)
        transport: httpx.AsyncBaseTransport | None = None
        if self._endpoint.is_local:
            from rollout.platform.local import AsyncLocalTransport

            transport = AsyncLocalTransport()
        with self._sound():
            self._http = httpx.AsyncClient(transport=transport, **self._settings())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Gives the connections back; of ``local``, ends what is under way, to be gone on with later, and warns of
        it, where no other client is left."""
        await self._http.aclose()

    async def _ask(self, asked: Call[T] | Plan[T]) -> T:
        if isinstance(asked, Call):
            return await self._call(asked)
        try:
            call = next(asked)
            while True:
                call = asked.send(await self._call(call))
        except StopIteration as end:
            value: T = end.value
            return value

    async def _call(self, call: Call[T]) -> T:
        talk = converse(call, self._endpoint, named=self.answers_more)
        try:
            step = next(talk)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = talk.send(None)
                    continue
                try:
                    with self._sound():
                        answer = await self._send(step)
                except httpx.HTTPError as error:
                    step = talk.throw(error)
                else:
                    step = talk.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value

    async def _send(self, step: Send) -> httpx.Response:
        try:
            async with asyncio.timeout(None if self._endpoint.is_local else step.in_all):
                return await self._exchange(step)
        except TimeoutError:
            raise self._too_slow(step) from None

    async def _exchange(self, step: Send) -> httpx.Response:
        answer = await self._http.send(self._request(self._http, step), stream=True)
        try:
            pieces, size = [], 0
            async for piece in answer.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > _LARGEST:
                    raise self._too_large()
            return self._heard(answer, pieces)
        finally:
            await answer.aclose()

    async def list_environments(self) -> list[results.EnvironmentEntry]:
        """All environments, by slug."""
        return await self._ask(calls.list_environments())

    async def get_environment(self, slug: str, *, digest: str | None = None) -> results.Environment:
        """An environment, as it is now or as the version of that digest."""
        return await self._ask(calls.get_environment(slug, digest))

    async def list_versions(self, slug: str) -> list[results.Version]:
        """All versions of an environment, the newest first."""
        return await self._ask(calls.list_versions(slug))

    async def push_environment(
        self, payload: Mapping[str, Any], *, instead_of: str | None = None
    ) -> results.Pushed:
        """Creates or updates an environment; with ``instead_of``, only where that digest is held (``none``: nothing).

        Where the server answers more than is published, ``payload`` may have a ``verifier``."""
        return await self._ask(calls.push_environment(payload, instead_of=instead_of))

    async def push_verifier(self, slug: str, verifier: Mapping[str, Any]) -> Any:
        """Sets how an environment is judged."""
        return await self._ask(calls.push_verifier(slug, verifier))

    async def list_runs(
        self, limit: int = 20, *, environment: str | None = None, status: results.Status | None = None
    ) -> list[results.Run]:
        """The newest runs first, ``limit`` at most; ``environment`` is a slug."""
        return await self._ask(calls.list_runs(limit, environment=environment, status=status))

    async def create_run(
        self,
        env_slug: str,
        model: str,
        n: int = 1,
        temperature: float | None = 0.7,
        max_tool_calls: int = 20,
        name: str | None = None,
        parent_run_id: str | None = None,
        **more: Any,
    ) -> results.CreatedRun:
        """Starts a run of ``n`` rollouts of each task.

        ``more`` has other members of :class:`rollout.platform.results.RunRequest`, by their names there. On ``local``
        this process does it: follow it with :meth:`watch_run`, or it ends, to be gone on with, when the client does."""
        return await self._ask(
            calls.create_run(env_slug, model, n, temperature, max_tool_calls, name, parent_run_id, more)
        )

    async def get_run(self, run_id: str, include_rollouts: bool = False) -> dict[str, Any]:
        """``{"run": …}``, and its ``rollouts`` where they are asked for."""
        return await self._ask(calls.get_run_in_full(run_id, include_rollouts))

    async def get_rollouts(
        self, run_id: str, *, outcome: results.Outcome | None = None
    ) -> list[results.Rollout]:
        """The rollouts of a run, without their transcripts."""
        return await self._ask(calls.get_rollouts(run_id, outcome=outcome))

    async def passing_rollout_ids(self, run_id: str) -> list[str]:
        """The ids of the rollouts that passed."""
        return await self._ask(calls.passing_rollout_ids(run_id))

    async def get_rollout(self, run_id: str, rollout_id: str) -> results.RolloutWithTrace:
        """A rollout with its transcript."""
        return await self._ask(calls.get_rollout(run_id, rollout_id))

    async def cancel_run(self, run_id: str) -> results.Run:
        """Ends a run; what is done is kept."""
        return await self._ask(calls.cancel_run(run_id))

    async def resume_run(self, run_id: str) -> results.Run:
        """Goes on with a run that ended before all was done."""
        return await self._ask(calls.resume_run(run_id))

    async def list_training_jobs(self) -> list[results.TrainingJob]:
        """All training jobs."""
        return await self._ask(calls.list_training_jobs())

    async def create_training_job(
        self,
        source_run_id: str,
        rollout_ids: Sequence[str],
        base_model: str,
        method: str = "sft",
        suffix: str | None = None,
        hyperparams: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Starts the training of a model on rollouts: ``{"id": …, "providerJobId": …}``."""
        return await self._ask(
            calls.create_training_job(source_run_id, rollout_ids, base_model, method, suffix, hyperparams)
        )

    async def get_training_job(self, job_id: str) -> results.TrainingJob:
        """A training job, as its provider says it is now."""
        return await self._ask(calls.get_training_job(job_id))

    async def generate_environment(
        self, description: str, template: str, model: str | None = None, *, max_cost: float | None = None
    ) -> dict[str, Any]:
        """Has the platform write an environment: ``{config | schema + seed, tasks, verifier?, _warnings}``.

        ``max_cost`` is in US dollars, for a platform that answers more than is published. What a model wrote and
        does not hold is an error, with it as ``rejected`` in its body."""
        return await self._ask(calls.generate_environment(description, template, model, max_cost))

    async def refine_environment(
        self,
        current: Mapping[str, Any],
        instruction: str,
        template: str,
        model: str | None = None,
        *,
        max_cost: float | None = None,
    ) -> dict[str, Any]:
        """Has the platform change an environment as the instruction says; the same shape."""
        return await self._ask(calls.refine_environment(current, instruction, template, model, max_cost))

    async def whoami(self) -> results.Whoami:
        """The key that is used."""
        return await self._ask(calls.whoami())

    async def list_keys(self) -> list[results.Key]:
        """All keys of the server."""
        return await self._ask(calls.list_keys())

    async def create_key(self, name: str, scope: str = "write") -> results.Key:
        """A new key, told whole this once."""
        return await self._ask(calls.create_key(name, scope))

    async def revoke_key(self, key_id: str) -> Any:
        """Makes a key useless."""
        return await self._ask(calls.revoke_key(key_id))

    async def watch_run(self, run_id: str) -> AsyncIterator[Event]:
        """What befalls a run, as it does, until it is over."""
        watch = Watch(run_id, self._endpoint)
        while not watch.over:
            if watch.looks:
                for event in watch.looked(await self._ask(calls.get_run(run_id))):
                    yield event
            else:
                try:
                    stream = self._http.stream(
                        "GET", watch.path, headers=watch.headers, timeout=watch.timeout
                    )
                    async with stream as answer:
                        if watch.accepts(answer):
                            async for piece in answer.aiter_bytes():
                                for event in watch.read(piece):
                                    yield event
                    watch.ended()
                except httpx.HTTPError as error:
                    watch.broken(error)
            if not watch.over:
                await asyncio.sleep(watch.pause)


__all__ = ["AsyncClient", "Client", "RolloutError"]
