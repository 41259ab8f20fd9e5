"""Server-sent events from bytes, however they are cut: lines end at CR, LF or both, and at nothing else."""

from __future__ import annotations

import pytest

from rollout.platform import event_stream
from rollout.platform.event_stream import EventStream, Message, TooLongError


def messages(stream: bytes, size: int = 1 << 20) -> list[Message]:
    reader = EventStream()
    pieces = (stream[start : start + size] for start in range(0, len(stream), size))
    return [message for piece in pieces for message in reader.read(piece)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("character", "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1eé")
def test_what_only_text_takes_for_a_line_break_is_part_of_the_line(
    character: str, end: bytes, size: int
) -> None:
    lines = ["\ufeffid: 4", "event: rollout", f"data: a{character}b", "data:c", ": aside", "", ""]
    stream = end.join(line.encode() for line in lines)
    assert messages(stream, size) == [Message("rollout", f"a{character}b\nc", "4")]


def test_an_id_stays_until_another_comes_and_what_is_cut_off_is_no_event() -> None:
    stream = b"id: 4\ndata: a\n\nid: \0\ndata: b\n\nid: 5\nevent: end\ndata: c\n"
    assert messages(stream) == [Message("message", "a", "4"), Message("message", "b", "4")]


@pytest.mark.parametrize("line", [b"data: 123456789", b"data: 12\n", b": 12\n"])
def test_an_event_has_an_end(monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setattr(event_stream, "LONGEST", 64)
    with pytest.raises(TooLongError):
        messages(line * 20, 7)
