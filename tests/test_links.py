"""Links between the project's pages lead somewhere: the file is there, and in it the heading or line that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("environments/*/*.md")])
_CODE = re.compile(r"^(?P<ticks>`{3,})[^\n]*\n.*?^(?P=ticks)[ ]*$", re.M | re.S)
_SPAN = re.compile(r"(?P<ticks>`+)(?P<inner>[^`].*?)(?P=ticks)")
_TARGETS = (
    re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)"),
    re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.M),
    re.compile(r"\b(?:href|src|srcset)=\"([^\"\s]+)"),
)


def targets(text: str) -> Iterator[str]:
    """Where a page's links, reference definitions and pictures lead, other sites left out."""
    prose = _SPAN.sub("", _CODE.sub("", text))
    for pattern in _TARGETS:
        for target in pattern.findall(prose):
            if not re.match(r"[a-z][a-z0-9+.-]*:", target):
                yield target


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives a page: one a heading, in small letters, with hyphens for spaces."""
    found: set[str] = set()
    prose = _CODE.sub("", text)
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", prose, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        same = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", each) is not None for each in found)
        found.add(f"{anchor}-{same}" if anchor in found else anchor)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", prose))


def missing(page: Path) -> list[str]:
    wrong: list[str] = []
    for target in targets(page.read_text(encoding="utf-8")):
        path, _, anchor = unquote(target).partition("#")
        there = page if not path else (page.parent / path).resolve()
        known = there.is_relative_to(ROOT) and there.exists()
        if known and anchor and there.suffix == ".md":
            known = anchor in anchors(there.read_text(encoding="utf-8"))
        if not known:
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert missing(page) == []


def test_every_page_is_reached_from_the_index_or_from_one_that_is() -> None:
    reached = {ROOT / "README.md"}
    waiting = list(reached)
    while waiting:
        page = waiting.pop()
        for target in targets(page.read_text(encoding="utf-8")):
            there = (page.parent / unquote(target).partition("#")[0]).resolve()
            pages = set(there.glob("*.md")) if there.is_dir() else {there} & set(PAGES)
            waiting += pages - reached
            reached |= pages
    docs = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert sorted(page.relative_to(ROOT).as_posix() for page in docs - reached) == []


def test_a_broken_link_or_anchor_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_links.ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# Two `words`, and more!\n## Same\n## Same\n```\n# no heading\n```\n")
    page = tmp_path / "page.md"
    right = [
        "other.md",
        "other.md#two-words-and-more",
        "other.md#same",
        "other.md#same-1",
        "https://x.test/y",
    ]
    wrong = [
        "gone.md",
        "other.md#three-words",
        "other.md#same-2",
        "#here",
        "other.md#no-heading",
        "../out.md",
    ]
    page.write_text("".join(f"[a]({target}) `[b](code.md)`\n" for target in [*right, *wrong]))
    assert missing(page) == wrong
