"""The page of a comparison in a browser: it shows what it has, fits a narrow screen, and nothing in it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browser.report_page import Seen, watch
from browser.test_report_in_browser import HOSTILE
from rollout.analysis.compare import Graded, Side
from rollout.analysis.compare.comparing import compare
from rollout.analysis.compare.page import write_page
from rollout.engine import Outcome


def side(scores: dict[str, float], text: str = "") -> Side:
    rollouts = [
        Graded(
            task,
            f"{task} {text}",
            Outcome(("failed", "passed")[score == 1]),
            score,
            f"{split} {text}",
            "custom",
        )
        for (task, score), split in zip(scores.items(), ["dev", "test"] * len(scores), strict=False)
    ]
    return Side(
        f"runs/{text}",
        f"model {text}",
        f"desk {text}",
        "sha256:d",
        rollouts,
        unfinished=f"Broken off {text}.",
    )


def opened(chromium: Browser, folder: Path, before: Side, after: Side, *, width: int = 1280) -> Seen:
    path = folder / "changes.html"
    with path.open("wb") as stream:
        write_page(compare(before, after, margin=0.05), stream)
    context = chromium.new_context(viewport={"width": width, "height": 900})
    seen = Seen(context.new_page())
    watch(seen, path)
    seen.page.goto(path.as_uri())
    return seen


BEFORE = {"up": 0.0, "down": 1.0, "same": 1.0, "other": 0.5}
AFTER = {"up": 1.0, "down": 0.0, "same": 1.0, "other": 0.25}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_whatever_a_name_says_is_text(chromium: Browser, tmp_path: Path, text: str) -> None:
    seen = opened(chromium, tmp_path, side(BEFORE, text), side(AFTER, text))
    assert seen.trouble == []
    assert seen.page.locator("script, iframe, img, form, object, embed, base, link").count() == 0
    assert seen.page.locator("h2").all_inner_texts()[-2:] == ["The runs", "To be known besides"]


def test_regressions_come_first_and_stand_left_of_the_middle(chromium: Browser, tmp_path: Path) -> None:
    page = opened(chromium, tmp_path, side(BEFORE), side(AFTER)).page
    sections = page.locator("section.tasks")
    assert [text.split("\n")[0] for text in sections.all_inner_texts()] == [
        "Worse 2 tasks",
        "Better 1 task",
        "As before 1 task",
    ]

    def middle(selector: str) -> float:
        box = page.locator(selector).first.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2

    zero = middle("section.tasks .tick")
    assert middle("section.tasks .dot.worse") < zero < middle("section.tasks .dot.better")


def test_it_fits_a_narrow_screen(chromium: Browser, tmp_path: Path) -> None:
    page = opened(chromium, tmp_path, side(BEFORE, "long" * 40), side(AFTER, "long" * 40), width=380).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
