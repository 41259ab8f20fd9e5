"""Models: whoever acts in a world. One file a model or provider, found by the first part of a model's id.

A model's module has ``connect(model_id, setup) -> Model``. A model is asked turn by turn and keeps nothing between two
turns, so that one connection serves any number of rollouts at once.

Two kinds of model are told apart by what they can be asked with. A :class:`Model` gets a :class:`Request`, in which the
ground truth has no place, so that it can be sent anywhere. An :class:`Insider` runs on this machine, says so by
``insider = True``, and gets an :class:`InsiderRequest`, which has the task and its solution besides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from rollout.environment import Task
from rollout.family import member, members
from rollout.models._conversation import Conversation, Message
from rollout.settings import Settings
from rollout.templates import Script, Tool

if TYPE_CHECKING:
    from rollout.models._seat import Seat


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is to draw its words; None leaves it to the model."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RolloutKey:
    """Which rollout a request belongs to: the environment's slug, the task's key, and the trial, from 0."""

    environment: str
    task: str
    trial: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked: the conversation so far, the tools, how to sample, and for which rollout."""

    messages: Sequence[Message]
    tools: Sequence[Tool]
    sampling: Sampling
    key: RolloutKey


@dataclass(frozen=True, slots=True)
class InsiderRequest(Request):
    """What an insider is asked: the ground truth is in the task, and ``solve`` gives the solution, or None."""

    task: Task
    solve: Callable[[], Script | None]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it; ``arguments`` is its text, whatever it says."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn, or of several together.

    ``cached_tokens`` are those of the input that the provider had kept, ``reasoning_tokens`` those of the output that
    nobody reads. ``unmetered`` counts answers whose provider did not say what they used. ``cost`` is in US dollars; it
    is None where no price is known, and stays None in a sum that has such a part.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    unmetered: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was used at all."""
        return not (self.input_tokens or self.output_tokens or self.unmetered)

    def __add__(self, other: Usage) -> Usage:
        if other.is_nothing and other.cost is None:
            return self
        if self.is_nothing and self.cost is None:
            return other
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.unmetered + other.unmetered,
        )


@dataclass(frozen=True, slots=True)
class Exchange:
    """How an answer was had from a model elsewhere, as it belongs on the trace.

    ``finish`` is why the model stopped, in its provider's word (``stop``, ``tool_calls``, ``length``). ``served_by`` is
    the model that the provider says answered. ``retries`` has a sentence for each attempt that failed before,
    ``remarks`` one for each oddity that was mended, and ``raw`` is then the answer as it came.
    """

    finish: str | None = None
    served_by: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    raw: str | None = None


Kind = Literal["calls", "text", "reasoning", "empty"]
"""What a turn has: tool calls; else words; else nothing but thoughts; else nothing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model said: text, tool calls, or both. A turn without calls ends the rollout.

    ``reasoning`` is what it thought aloud before, where its provider shows that.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = field(default_factory=Usage)
    reasoning: str = ""
    exchange: Exchange | None = None

    @property
    def kind(self) -> Kind:
        """What the turn has; ``reasoning`` and ``empty`` ask to be bounded."""
        if self.calls:
            return "calls"
        if self.text.strip():
            return "text"
        return "reasoning" if self.reasoning.strip() else "empty"


class Model(Protocol):
    """Something that can be asked for the next turn."""

    @property
    def id(self) -> str:
        """The model's id, as it was asked for."""

    async def respond(self, request: Request) -> Turn:
        """The next turn. Raises ModelError when there is none; anything else it raises is our fault."""

    async def close(self) -> None:
        """Gives back connections; called once."""


class Insider(Protocol):
    """A model on this machine that may know the ground truth. It says so by ``insider = True``."""

    insider: Literal[True]

    @property
    def id(self) -> str:
        """The model's id, as it was asked for."""

    async def respond(self, request: InsiderRequest) -> Turn:
        """As of a :class:`Model`."""

    async def close(self) -> None:
        """As of a :class:`Model`."""


AnyModel = Model | Insider


async def ask(model: AnyModel, request: Request, *, task: Task, solve: Callable[[], Script | None]) -> Turn:
    """Asks a model for the next turn. The task and its solution go to insiders only.

    Raises ModelError when there is none.
    """
    if getattr(model, "insider", False) is True:
        knowing = InsiderRequest(request.messages, request.tools, request.sampling, request.key, task, solve)
        return await model.respond(knowing)
    return await model.respond(request)  # type: ignore[arg-type]


Blame = Literal["model", "environment", "verifier", "infrastructure"]
"""Whom an error is charged to."""


class ModelError(Exception):
    """A turn that did not come about; its text is a sentence, ``charged_to`` says whose fault it is.

    ``hint`` is the way out. ``hopeless`` says that every other request to this model would fail in the same way, such
    as with a key that is not accepted. ``exchange`` is what was tried and used on the way.
    """

    def __init__(
        self,
        sentence: str,
        *,
        charged_to: Blame = "model",
        hint: str | None = None,
        hopeless: bool = False,
        exchange: Exchange | None = None,
    ) -> None:
        super().__init__(sentence)
        self.charged_to: Blame = charged_to
        self.hint = hint
        self.hopeless = hopeless
        self.exchange = exchange


class ConnectError(ValueError):
    """A model that cannot be had; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


class UnknownModelError(ConnectError):
    """A model id that nothing here answers to."""


class MissingKeyError(ConnectError):
    """A model whose provider wants a key, and no environment variable has one."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model elsewhere is waited for, in seconds, and how often it is asked again.

    ``call``: one attempt, from first byte to last. ``total``: all attempts at one turn with the waits between them.
    The wait before attempt n+1 is drawn evenly from 0 to ``first``·2ⁿ⁻¹, at most ``longest`` (“full jitter”,
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/); a provider that says how long to wait
    is obeyed up to ``longest_asked``.
    """

    attempts: int = 8
    call: float = 300.0
    total: float = 900.0
    connect: float = 10.0
    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 120.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a model is connected with: the project's settings, the variables that hold keys, how many ask at once.

    ``seat`` is where a person sits who may be the model.
    """

    settings: Settings = field(default_factory=Settings)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    concurrency: int = 16
    patience: Patience = field(default_factory=Patience)
    seat: Seat | None = None


_HERE = frozenset({"human", "noop", "oracle", "random", "replay"})
_NAMED = re.compile(r"(?P<provider>[A-Za-z0-9][\w.-]*)/\S(?:.*\S)?")


def is_elsewhere(model_id: str) -> bool:
    """Whether the id names a model at a provider, as PROVIDER/MODEL does, and none that this machine has."""
    named = _NAMED.fullmatch(model_id)
    return named is not None and named["provider"] not in _HERE


def address(model_id: str, setup: Setup) -> str | None:
    """Where a model elsewhere is asked, without a login or a query; None of a model on this machine.

    Raises ConnectError when it cannot be had.
    """
    if not is_elsewhere(model_id):
        return None
    return getattr(connect(model_id, setup), "address", None)


_ELSEWHERE = re.compile(r"[A-Za-z0-9][\w.-]*/[^\s/][^\s]*")


def connect(model_id: str, setup: Setup | None = None) -> AnyModel:
    """The model called ``model_id``: a server named in the settings, a member of this family, or one at the gateway.

    Raises ConnectError.
    """
    setup = setup or Setup()
    name = re.split(r"[/:]", model_id, maxsplit=1)[0]
    if "/" in model_id and name in setup.settings.providers:
        from rollout.models._named import connect_named

        return connect_named(model_id, setup)
    module = member(__name__, name) if name else None
    if module is None and _ELSEWHERE.fullmatch(model_id):
        module = member(__name__, "gateway")
    if module is None:
        raise UnknownModelError(f"There is no model “{model_id}” here.", _known(model_id, setup))
    model: AnyModel = module.connect(model_id, setup)
    return model


def _known(model_id: str, setup: Setup) -> str:
    from difflib import get_close_matches

    # Who wants a model elsewhere may ask a server, which has none of those that a person at a machine has.
    is_here = not is_elsewhere(model_id)
    names = [*(each for each in members(__name__) if is_here or each not in _HERE), *setup.settings.providers]
    close = get_close_matches(re.split(r"[/:]", model_id[:200], maxsplit=1)[0], names, n=1)
    meant = f"Did you mean “{close[0]}”? " if close else ""
    here = "On this machine: human, noop, oracle, random:SEED, replay:FILE. " if is_here else ""
    return f"{meant}{here}{'Elsewhere: ' if is_here else 'Write '}PROVIDER/MODEL, such as openai/gpt-4o-mini."


__all__ = [
    "AnyModel",
    "Blame",
    "Call",
    "ConnectError",
    "Conversation",
    "Exchange",
    "Insider",
    "InsiderRequest",
    "Kind",
    "Message",
    "MissingKeyError",
    "Model",
    "ModelError",
    "Patience",
    "Request",
    "RolloutKey",
    "Sampling",
    "Setup",
    "Turn",
    "UnknownModelError",
    "Usage",
    "address",
    "ask",
    "connect",
    "is_elsewhere",
]
