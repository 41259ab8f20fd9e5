"""A request that takes far longer than others is made a second time, and the answer that comes first counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from rollout.models._http import Response, WireError
from rollout.models._second import FEWEST, SecondAsker

Answering = Callable[[int], Awaitable[Response]]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.models._second.LEAST", 0.02)
    monkeypatch.setattr("rollout.models._second._LOOKS", 0.005)


class Server:
    """Answers at once, ``known`` times; from then on the n-th request for “late” as it is told."""

    def __init__(self, late: Answering) -> None:
        self.late = late
        self.times = self.open = self.most_open = 0

    async def post(self, body: bytes, within: float) -> Response:
        if body != b"late":
            return Response(200, {}, body)
        self.times += 1
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        try:
            return await self.late(self.times)
        finally:
            self.open -= 1


async def never() -> Response:
    await asyncio.Event().wait()
    raise AssertionError


def answer_to(late: Answering, *, known: int = FEWEST, concurrency: int = 16) -> tuple[Response, Server]:
    server = Server(late)

    async def ask() -> Response:
        asker = SecondAsker(server.post, server.post, concurrency=concurrency)
        for _ in range(known):
            await asker.post(b"quick", 10)
        try:
            async with asyncio.timeout(10):
                return await asker.post(b"late", 10)
        finally:
            asker.close()
            assert len(asyncio.all_tasks()) <= 2

    return asyncio.run(ask()), server


def test_what_a_server_has_lost_is_asked_again_and_answered() -> None:
    async def late(time: int) -> Response:
        return await never() if time == 1 else Response(200, {}, b"second")

    response, server = answer_to(late)
    assert (response.body, len(response.waits), server.times) == (b"second", 1, 2)


def test_the_first_request_goes_on_and_counts_where_it_is_answered_first() -> None:
    second_asked = asyncio.Event()

    async def late(time: int) -> Response:
        if time == 2:
            second_asked.set()
            return await never()
        await second_asked.wait()
        return Response(200, {}, b"first")

    response, server = answer_to(late)
    assert (response.body, len(response.waits), server.times) == (b"first", 1, 2)


@pytest.mark.parametrize("refusal", [Response(500, {}, b""), WireError("dropped the connection")])
def test_a_second_request_that_is_refused_is_no_answer_and_there_is_a_third(
    refusal: Response | WireError,
) -> None:
    async def late(time: int) -> Response:
        if time == 1:
            return await never()
        if time > 2:
            return Response(200, {}, b"third")
        if isinstance(refusal, WireError):
            raise refusal
        return refusal

    response, server = answer_to(late)
    assert (response.body, len(response.waits), server.times) == (b"third", 2, 3)


def test_a_second_request_that_is_lost_as_well_is_followed_by_a_third() -> None:
    async def late(time: int) -> Response:
        return await never() if time < 3 else Response(200, {}, b"third")

    response, server = answer_to(late)
    assert (response.body, server.times) == (b"third", 3)
    assert [clause for _, clause in response.waits] == ["was not answered", ""]


def test_a_slow_answer_that_comes_before_anything_is_known_is_waited_for() -> None:
    async def late(time: int) -> Response:
        await asyncio.sleep(0.1)
        return Response(200, {}, b"slow")

    response, server = answer_to(late, known=FEWEST - 1)
    assert (response.waits, server.times) == ((), 1)


def test_whoever_gives_up_both_is_obeyed() -> None:
    async def late(time: int) -> Response:
        return await never()

    server = Server(late)

    async def ask() -> None:
        asker = SecondAsker(server.post, server.post, concurrency=16)
        for _ in range(FEWEST):
            await asker.post(b"quick", 10)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await asker.post(b"late", 10)
        current = asyncio.current_task()
        assert current is not None
        assert current.cancelling() == 0
        asker.close()
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(ask())
    assert server.times >= 2
    assert server.open == 0


def test_only_one_in_ten_is_asked_a_second_time_at_once() -> None:
    async def late(time: int) -> Response:
        return await never()

    server = Server(late)

    async def ask() -> None:
        asker = SecondAsker(server.post, server.post, concurrency=20)
        for _ in range(FEWEST):
            await asker.post(b"quick", 10)
        tasks = [asyncio.create_task(asker.post(b"late", 10)) for _ in range(20)]
        await asyncio.wait(tasks, timeout=0.2)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        asker.close()

    asyncio.run(ask())
    assert server.most_open == 22
