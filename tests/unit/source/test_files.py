"""A file is read when it is a regular file of UTF-8 text that is not too large; everything else has its reason."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.source.file import decode, read_source
from rollout.source.place import Problem


def found(path: Path, **options: int) -> list[tuple[str, str, object]]:
    problems: list[Problem] = []
    assert read_source(path, "label", problems, **options) is None
    return [(str(p.span), p.slug, next(iter(p.facts.values()))) for p in problems]


def test_text_is_read_without_its_bom_and_with_its_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\xc3\xa9\n")
    problems: list[Problem] = []
    source = read_source(path, "a.txt", problems)
    assert problems == []
    assert source is not None
    assert (source.path, source.label, source.text) == (path, "a.txt", "a\r\nbé\n")


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    source = read_source(tmp_path / "a", "a", [])
    assert source is not None
    assert source.text == ""


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    assert found(tmp_path / "none") == [("label:1:1", "unreadable-file", "missing")]
    (tmp_path / "file").touch()
    assert found(tmp_path / "file" / "below") == [("label:1:1", "unreadable-file", "missing")]
    (tmp_path / "link").symlink_to("nowhere")
    assert found(tmp_path / "link") == [("label:1:1", "unreadable-file", "missing")]


def test_a_name_that_no_file_can_have_is_no_traceback(tmp_path: Path) -> None:
    assert found(tmp_path / "a\0b")[0][1] == "unreadable-file"
    assert found(tmp_path / ("a" * 5000))[0][1] == "unreadable-file"


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        assert found(tmp_path / name) == [("label:1:1", "unreadable-file", "not-a-file")]
    assert found(Path("/dev/zero")) == [("label:1:1", "unreadable-file", "not-a-file")]


def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        assert found(tmp_path / "s")[0][1] == "unreadable-file"


@contextmanager
def without_root() -> Iterator[None]:
    """Root may read everything, so a test of permissions is nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_without_permission_says_so() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "a"
        path.touch(mode=0)
        with without_root():
            assert found(path) == [("label:1:1", "unreadable-file", "permission")]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    assert found(path) == [("label:1:1", "huge-file", 200 * 1024 * 1024)]
    path.write_text("x" * 11)
    assert found(path, max_bytes=10) == [("label:1:1", "huge-file", 11)]
    problems: list[Problem] = []
    assert read_source(path, "label", problems, max_bytes=11) is not None


@pytest.mark.parametrize(
    ("data", "span", "slug", "fact"),
    [
        (b"caf\xe9\n", "label:1:4", "not-utf8", 0xE9),
        (b"a\r\nb: \xc3\xa9\xff\r\n", "label:2:5", "not-utf8", 0xFF),
        (b"\xef\xbb\xbfa\xff", "label:1:2", "not-utf8", 0xFF),
        (b"a\n\xed\xa0\x80", "label:2:1", "not-utf8", 0xED),
        (b"\xc0\x80", "label:1:1", "not-utf8", 0xC0),
        (b"abc\xc3", "label:1:4", "not-utf8", 0xC3),
        ("slug: é".encode("utf-16"), "label:1:1", "not-utf8", "UTF-16"),
        ("slug: é".encode("utf-16-be"), "label:1:1", "not-utf8", "UTF-16"),
        ("slug: é".encode("utf-16-le"), "label:1:1", "not-utf8", "UTF-16"),
        ("slug: é".encode("utf-32"), "label:1:1", "not-utf8", "UTF-32"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "label:3:1", "binary-file", 8),
        (b"text\nab\0", "label:2:3", "binary-file", 7),
    ],
)
def test_what_is_no_utf8_text_is_named_at_its_first_bad_byte(
    tmp_path: Path, data: bytes, span: str, slug: str, fact: object
) -> None:
    (tmp_path / "a").write_bytes(data)
    assert found(tmp_path / "a") == [(span, slug, fact)]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_bytes_are_text_exactly_when_they_are_utf8_without_zeros(data: bytes) -> None:
    problems: list[Problem] = []
    text = decode(data, "label", problems)
    try:
        expected = data.decode("utf-8")
    except UnicodeDecodeError:
        expected = "\0"
    assert (text is None) == ("\0" in expected) == (len(problems) == 1)
    if text is not None:
        assert text == expected.removeprefix("\ufeff")
