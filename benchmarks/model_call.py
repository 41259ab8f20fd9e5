"""What one turn of a model elsewhere costs in CPU, beside a bare client and the `openai` package.

Needs a chat-completions server on this machine, in a process of its own so that its work is not counted here:

    .venv/bin/python benchmarks/model_call.py --server path/to/model_server.py
    .venv/bin/python benchmarks/model_call.py --address http://127.0.0.1:8765/v1

The server is started as `python FILE --port 0 --latency-ms N` and has to print its address. Each contender plays the
same conversation of three turns in a process of its own: two tool calls, then an answer. CPU is that of the client's
process; the wall is shown beside the ideal of turns × latency ÷ concurrency.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from measure import ROOT

CONTENDERS = ("rollout", "rollout-loop", "aiohttp", "openai-post-aiohttp", "openai-post", "openai-create")
TURNS = 3
LIMIT_OF_BARE = 1.6
"""A turn of ours may cost this many times a turn of the bare aiohttp loop."""

PARAMETERS = {
    "get_order": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "refund": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["order_id", "amount"],
    },
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": f"Calls {name}.", "parameters": parameters},
    }
    for name, parameters in PARAMETERS.items()
]
QUESTION = {"role": "user", "content": "Please refund order O-1 in full, it arrived broken."}
RESULT = '{"id":"O-1","customer":"Alice","amount":100,"status":"delivered"}'

Ask = Callable[[list[dict[str, Any]]], Awaitable[dict[str, Any]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", type=Path, help="a program that serves chat completions")
    parser.add_argument("--address", help="the base URL of one that runs already")
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(
            json.dumps(
                measure(
                    options.alone, options.address, options.concurrency[0], options.rollouts, options.uvloop
                )
            )
        )
        return
    if not options.server and not options.address:
        parser.error("give --server or --address")
    with contextlib.ExitStack() as stack:
        address = options.address or stack.enter_context(serving(options.server, options.latency_ms))
        held = [compare(options, address, concurrency) for concurrency in options.concurrency]
    if not all(held):
        sys.exit(1)


def compare(options: argparse.Namespace, address: str, concurrency: int) -> bool:
    ideal = options.rollouts * TURNS * options.latency_ms / 1000 / concurrency
    print(
        f"concurrency {concurrency}, {options.rollouts} rollouts of {TURNS} turns, {options.latency_ms:g} ms latency"
    )
    best: dict[str, tuple[float, float]] = {}
    for _ in range(options.repeat):
        for name in options.contenders:
            figures = alone(name, address, concurrency, options)
            if figures is not None:
                cpu, wall = figures
                best[name] = min(best.get(name, (cpu, wall)), (cpu, wall))
    for name, (cpu, wall) in best.items():
        print(f"  {name:<20} {cpu * 1000:7.3f} ms CPU a turn   {wall:6.2f} s, {wall / ideal:5.2f}× the ideal")
    if not {"rollout", "aiohttp"} <= best.keys():
        return True
    ratio = best["rollout"][0] / best["aiohttp"][0]
    held = ratio <= LIMIT_OF_BARE
    print(
        f"  {'pass' if held else 'FAIL'}  rollout / bare aiohttp: {ratio:.2f}× (at most {LIMIT_OF_BARE:g}×)\n",
        flush=True,
    )
    return held


def alone(
    name: str, address: str, concurrency: int, options: argparse.Namespace
) -> tuple[float, float] | None:
    """CPU seconds a turn and wall seconds of one contender, in a process of its own; None when it is not installed."""
    command = [sys.executable, __file__, "--alone", name, "--address", address]
    command += ["--concurrency", str(concurrency), "--rollouts", str(options.rollouts)]
    command += ["--uvloop"] if options.uvloop else []
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(f"  {name:<20} not measured: {ended.stderr.strip().rpartition(chr(10))[2]}")
        return None
    cpu, wall = json.loads(ended.stdout)
    return cpu, wall


@contextlib.contextmanager
def serving(program: Path, latency_ms: float, *more: str) -> Iterator[str]:
    """Starts a server, ``more`` being options of its own; gives its base URL."""
    process = subprocess.Popen(
        [sys.executable, program, "--port", "0", "--latency-ms", str(latency_ms), *more],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            sys.exit(f"{program} does not print its address")
        yield found[0]
    finally:
        process.terminate()
        process.wait()


def measure(name: str, address: str, concurrency: int, rollouts: int, uvloop: bool) -> tuple[float, float]:
    if uvloop:
        import uvloop as fast

        with asyncio.Runner(loop_factory=fast.new_event_loop) as runner:
            return runner.run(play(name, address, concurrency, rollouts))
    return asyncio.run(play(name, address, concurrency, rollouts))


async def play(name: str, address: str, concurrency: int, rollouts: int) -> tuple[float, float]:
    one, close = connect(name, address, concurrency)
    await one(-1)
    numbers = iter(range(rollouts))

    async def work() -> None:
        for number in numbers:
            await one(number)

    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await close()
    return cpu / (rollouts * TURNS), wall


def connect(
    name: str, address: str, concurrency: int
) -> tuple[Callable[[int], Awaitable[None]], Callable[[], Awaitable[None]]]:
    """How a contender plays one rollout, and how it is closed."""
    if name.startswith("rollout"):
        return ours(address, concurrency, whole=name == "rollout-loop")
    ask, close = asking(name, address, concurrency)

    async def one(number: int) -> None:
        messages: list[dict[str, Any]] = [QUESTION]
        while True:
            message = await ask(messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return
            for call in message["tool_calls"]:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": RESULT})

    return one, close


def asking(name: str, address: str, concurrency: int) -> tuple[Ask, Callable[[], Awaitable[None]]]:
    import orjson

    if name == "aiohttp":
        import aiohttp

        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency))
        headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}

        async def bare(messages: list[dict[str, Any]]) -> dict[str, Any]:
            body = orjson.dumps({"model": "m", "messages": messages, "tools": TOOLS})
            async with session.post(f"{address}/chat/completions", data=body, headers=headers) as response:
                return orjson.loads(await response.read())["choices"][0]["message"]

        return bare, session.close

    import openai

    http = openai.DefaultAioHttpClient() if name.endswith("aiohttp") else None
    client = openai.AsyncOpenAI(api_key="none", base_url=address, max_retries=0, http_client=http)
    if name == "openai-create":

        async def create(messages: list[dict[str, Any]]) -> dict[str, Any]:
            answer = await client.chat.completions.create(model="m", messages=messages, tools=TOOLS)  # type: ignore[call-overload]
            return answer.choices[0].message.model_dump(exclude_none=True)

        return create, client.close

    import httpx2

    async def post(messages: list[dict[str, Any]]) -> dict[str, Any]:
        body = {"model": "m", "messages": messages, "tools": TOOLS}
        answer = await client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        return orjson.loads(answer.content)["choices"][0]["message"]

    return post, client.close


def ours(
    address: str, concurrency: int, *, whole: bool
) -> tuple[Callable[[int], Awaitable[None]], Callable[[], Awaitable[None]]]:
    """Our own client alone, or the whole rollout with its world, its calls and its verdict."""
    from rollout.models import Conversation, Request, RolloutKey, Sampling, Setup
    from rollout.models import connect as connect_model
    from rollout.settings import ProviderSettings, Settings
    from rollout.templates import Tool

    setup = Setup(Settings({"here": ProviderSettings(address)}), {}, concurrency)
    model = connect_model("here/m", setup)
    if whole:
        return rolling(model), model.close
    tools = tuple(Tool(name, f"Calls {name}.", parameters) for name, parameters in PARAMETERS.items())

    async def one(number: int) -> None:
        conversation = Conversation([QUESTION])
        key = RolloutKey("refund", "task", number)
        while True:
            turn = await model.respond(Request(conversation, tools, Sampling(), key))  # type: ignore[arg-type]
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": call.arguments},
                }
                for call in turn.calls
            ]
            said = {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
            if not calls:
                return
            answers = [{"role": "tool", "tool_call_id": call.id, "content": RESULT} for call in turn.calls]
            conversation = conversation.then(said, *answers)

    return one, model.close


def rolling(model: Any) -> Callable[[int], Awaitable[None]]:
    from rollout.engine import roll_out
    from rollout.engine.judge import VerifierGrader
    from rollout.engine.loop import EnvironmentWorkflow
    from rollout.environment import Environment, Task

    environment = Environment(
        slug="refund",
        name="Refund",
        template="workflow",
        config={
            "tools": [
                {"name": "get_order", "kind": "lookup", "fixturePath": "orders.${args.id}"},
                {
                    "name": "refund",
                    "kind": "action",
                    "stateArray": "refunds",
                    "paramsSchema": {"order_id": "string", "amount": "number"},
                },
            ],
            "fixtures": {"orders": {"O-1": {"customer": "Alice", "amount": 100, "status": "delivered"}}},
            "initialMutableState": {"refunds": []},
        },
        tasks=[Task(str(QUESTION["content"]), {"refunds": [{"order_id": "O-1", "amount": 100}]})],
    )
    workflow, grader = EnvironmentWorkflow(environment), VerifierGrader(environment)

    async def one(number: int) -> None:
        rollout = await roll_out(workflow, grader, environment.tasks[0], model, trial=max(number, 0))
        if rollout.verdict.outcome != "passed":
            sys.exit(f"a rollout did not pass: {rollout.verdict}")

    return one


if __name__ == "__main__":
    main()
