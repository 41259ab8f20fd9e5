"""The page of a comparison: it needs nothing, nothing in it runs, and what it draws stands where it should."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from hashlib import sha256

from rollout.analysis.compare import Graded, Side
from rollout.analysis.compare.comparing import compare
from rollout.analysis.compare.markdown import markdown
from rollout.analysis.compare.page import write_page
from rollout.engine import Outcome

KEY = "correct-horse-battery-2"
NASTY = f"<script>alert(1)</script> {KEY}"


def side(tasks: dict[str, bool]) -> Side:
    rollouts = [
        Graded(task, task, Outcome.PASSED if passed else Outcome.FAILED, float(passed), "dev", "workflow")
        for task, passed in tasks.items()
    ]
    return Side(f"runs/{NASTY}", f"model {NASTY}", f"desk {NASTY}", "sha256:d", rollouts)


def page(before: dict[str, bool], after: dict[str, bool]) -> str:
    stream = io.BytesIO()
    write_page(compare(side(before), side(after)), stream, secrets=[KEY])
    return stream.getvalue().decode()


def test_nothing_in_it_runs_or_asks_for_anything() -> None:
    text = page({NASTY: True, "b": True}, {NASTY: False, "c": True})
    assert "<script" not in text and "alert(1)" in text
    assert KEY not in text and "[hidden]" in text
    assert re.findall(r'\b(?:src|href|action|on\w+)="', text) == []
    [style] = re.findall(r"<style>(.*?)</style>", text, re.S)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    [policy] = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert 'style="' not in text


def test_differences_are_drawn_from_minus_100_to_100_and_regressions_first() -> None:
    text = page({"up": False, "down": True, "same": True}, {"up": True, "down": False, "same": True})
    titles = re.findall(r'<h2 id="tasks-\d">(\w[\w ]*?) <span', text)
    assert titles == ["Worse", "Better", "As before"]
    dots = re.findall(r'<circle class="dot (?:worse|better|)" cx="([\d.]+)%"', text)
    assert dots == ["50.00", "0.00", "100.00", "50.00"]


def test_without_anything_to_compare_it_says_so() -> None:
    text = page({"a": True}, {"b": True})
    assert "Nothing can be compared: no task has a grade in both runs." in text
    assert "<circle" not in text


def test_markdown_names_nobody_and_ends_no_cell() -> None:
    name = "a|b @team #7 `x` <b>"
    text = markdown(compare(side({name: True, "@all": True}), side({name: False})))
    assert "| ``a\\|b @team #7 `x` <b>`` | 1 of 1 → 0 of 1 |" in text
    assert "only the baseline has them: “@<!-- -->all”" in text
