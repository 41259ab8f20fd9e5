"""A conversation that grows a message at a time, and is written out for the wire no more than once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

Message = Mapping[str, Any]
"""A message as chat models know it: ``{"role": …, "content": …}``, with ``tool_calls`` or ``tool_call_id``.

An assistant's message may have ``reasoning_content``, what it thought before it spoke, where its provider shows that.
"""


class _Record:
    """The messages of one conversation, and the JSON of those that have been sent, joined by commas."""

    __slots__ = ("encoded", "ends", "messages", "with_reasoning")

    def __init__(self, messages: Iterable[Message]) -> None:
        self.messages = list(messages)
        self.encoded = bytearray()
        self.ends: list[int] = []
        self.with_reasoning = False


class Conversation(Sequence[Message]):
    """The messages up to one moment. :meth:`then` gives a longer one, which shares all that this one has.

    A conversation never changes: a model may keep the one it was asked with. Only the longest one can be continued.
    """

    __slots__ = ("_length", "_record")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._record = _Record(messages)
        self._length = len(self._record.messages)

    def then(self, *messages: Message) -> Conversation:
        """This conversation with ``messages`` after it. Raises ValueError when another continuation was made."""
        record = self._record
        if len(record.messages) != self._length:
            raise ValueError("This conversation has been continued already.")
        record.messages.extend(messages)
        longer = Conversation.__new__(Conversation)
        longer._record, longer._length = record, len(record.messages)
        return longer

    def wire(self, *, reasoning: bool = False) -> bytes:
        """The messages as JSON (UTF-8), joined by commas, without brackets.

        ``reasoning_content`` is left out unless ``reasoning`` asks for it, because most providers refuse it. Each
        message is encoded once, however often the conversation is sent. Raises TypeError for what JSON has no form for.
        """
        import orjson

        record = self._record
        if record.with_reasoning is not reasoning:
            record.encoded, record.ends, record.with_reasoning = bytearray(), [], reasoning
        for message in record.messages[len(record.ends) : self._length]:
            if record.ends:
                record.encoded += b","
            record.encoded += orjson.dumps(message if reasoning else _without_reasoning(message))
            record.ends.append(len(record.encoded))
        if not self._length:
            return b""
        # A view would forbid the record to grow while it is alive.
        return bytes(memoryview(record.encoded)[: record.ends[self._length - 1]])

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if len(self._record.messages) == self._length:
            return self._record.messages[index]
        return self._record.messages[: self._length][index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Message]:
        return iter(self._record.messages[: self._length])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Conversation({list(self)!r})"


def _without_reasoning(message: Message) -> Message:
    if "reasoning_content" not in message:
        return message
    return {key: value for key, value in message.items() if key != "reasoning_content"}


__all__ = ["Conversation", "Message"]
