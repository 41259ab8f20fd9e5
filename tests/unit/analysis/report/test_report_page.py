"""The page as it is written: what stands in it without its script, its data, its bounds and its policy."""

from __future__ import annotations

import html
import json
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from rollout.analysis.report import ReportError
from rollout.analysis.report.page import Run, write_page

LETTERS = Path(__file__).parents[3] / "cases" / "reports" / "letters"
CONFIG = json.loads((LETTERS / "run.json").read_text(encoding="utf-8"))


def page(lines: Path = LETTERS / "rollouts.jsonl", *, most_bytes: int = 1_000_000, **told: Any) -> str:
    stream = BytesIO()
    write_page(Run(lines, **told), stream, most_bytes=most_bytes)
    return stream.getvalue().decode()


def blocks(text: str, attribute: str) -> list[Any]:
    found = re.findall(rf'<script type="application/json" {attribute}>(.*?)</script>', text)
    return [json.loads(each) for each in found]


def test_the_rows_of_the_table(snapshot: SnapshotAssertion) -> None:
    [rows] = blocks(page(), 'class="rows"')
    assert rows == snapshot


@pytest.mark.parametrize("number", range(5))
def test_a_transcript(number: int, snapshot: SnapshotAssertion) -> None:
    [told] = blocks(page(), f'id="rollout-{number}"')
    assert told == snapshot


def test_the_figures_stand_in_the_page_without_its_script(snapshot: SnapshotAssertion) -> None:
    text = page(config=CONFIG, planned=6, stopped="The limit of $0.01 is reached.", folder="runs/letters")
    body = text[text.index("<body>") : text.index('<script type="application/json"')]
    assert re.sub(r"rollout \d+\.\d+\.\d+\S*", "rollout VERSION.", body) == snapshot


def test_where_the_environment_is_on_this_machine_is_not_told() -> None:
    assert "/home/ida" not in page(config=CONFIG)


def test_the_policy_allows_one_script_and_two_styles_by_their_digests() -> None:
    text = page()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])  # type: ignore[index]
    [script] = re.findall(r"<script>(.*?)</script>", text, re.S)
    style, *_ = re.findall(r"<style>(.*?)</style>", text, re.S)
    [frame] = blocks(text, 'id="frame-style"')

    def digest(inside: str) -> str:
        return f"'sha256-{b64encode(sha256(inside.encode()).digest()).decode()}'"

    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src {digest(script)}",
        f"style-src {digest(style)} {digest(frame)}",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types rollout",
    ]


def test_too_much_for_a_browser_is_left_out_beginning_with_what_passed(tmp_path: Path) -> None:
    whole = page()
    sizes = {n: len(block) for n, block in enumerate(re.findall(r'id="rollout-\d">.*?</script>', whole))}
    room = sum(sizes[n] for n in (1, 2, 3, 4)) + 4 * len('<script type="application/json" \n')
    text = page(most_bytes=room + 50, folder="runs/letters")
    assert [bool(blocks(text, f'id="rollout-{n}"')) for n in range(5)] == [False, True, True, True, True]
    assert "The transcripts of 1 rollout are left out," in text
    assert "rollout traces runs/letters" in text
    assert len(blocks(text, 'class="rows"')[0]) == 5
    assert "run with <code>--out DIR</code>" in page(most_bytes=100)
    assert "are left out" not in whole


def long_run(tmp_path: Path, content: str) -> Path:
    first, *_ = (LETTERS / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(first)
    line["trace"]["messages"][-1]["content"] = content
    lines = tmp_path / "rollouts.jsonl"
    lines.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    return lines


def test_a_text_of_a_megabyte_is_cut(tmp_path: Path) -> None:
    text = page(long_run(tmp_path, "<b>" * 400_000))
    [told] = blocks(text, 'id="rollout-0"')
    words, left = told["steps"][-1]["text"]
    assert (len(words), left) == (50_000, 1_150_000)
    assert len(text) < 700_000


def test_texts_that_are_too_much_together_are_cut_shorter(tmp_path: Path) -> None:
    first, *_ = (LETTERS / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(first)
    line["trace"]["messages"] += [{"role": "user", "content": "y" * 100_000}] * 100
    lines = tmp_path / "rollouts.jsonl"
    lines.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    [told] = blocks(page(lines, most_bytes=9_000_000), 'id="rollout-0"')
    assert told["steps"][-1]["text"] == ["y" * 4_000, 96_000]


def test_data_cannot_end_its_element(tmp_path: Path) -> None:
    text = page(long_run(tmp_path, "</script><!--<script>&lt;\u2028"))
    [told] = blocks(text, 'id="rollout-0"')
    assert told["steps"][-1]["text"] == "</script><!--<script>&lt;<U+2028>"
    data = text[text.index('id="rollout-0"') :]
    assert "<!--" not in data[: data.index("\n")]


def test_of_a_rollout_that_was_done_twice_the_later_counts(tmp_path: Path) -> None:
    lines = (LETTERS / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    again = json.loads(lines[3])
    again["verdict"] = json.loads(lines[0])["verdict"]
    path = tmp_path / "rollouts.jsonl"
    path.write_text("\n".join([*lines, json.dumps(again), '{"torn']), encoding="utf-8")
    [rows] = blocks(page(path), 'class="rows"')
    assert [(row["task"], row["trial"], row["outcome"]) for row in rows][-1] == ("polite", 1, "passed")
    assert len(rows) == 5


def test_a_line_that_is_no_rollout_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    shutil.copy(LETTERS / "rollouts.jsonl", path)
    broken = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    broken["trace"].update(trial=7, ending="bliss")
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(broken)}\n")
    with pytest.raises(ReportError, match=r"^Rollout 6 of “.*” has a trace that cannot be read"):
        page(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"earlier": [{}]},
        {"earlier": [3]},
        {"earlier": 3},
        {"earlier": [{"failure": {"sentence": "Gone.", "charged_to": "model"}, "seconds": "x"}]},
        {"earlier": [{"failure": {"oops": 1}, "seconds": 1.0}]},
        {"trace": {"messages": [{"role": "assistant", "tool_calls": "x"}], "calls": []}},
        {
            "trace": {
                "messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": 3}}]}],
                "calls": [],
            }
        },
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_parts_of_a_line_that_cannot_be_read_are_a_sentence(
    tmp_path: Path, changed: dict[str, Any], number: int
) -> None:
    lines = (LETTERS / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(lines[number])
    line["trace"] |= changed.get("trace", {})
    line |= {name: value for name, value in changed.items() if name != "trace"}
    path = tmp_path / "rollouts.jsonl"
    path.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    with pytest.raises(ReportError, match=r"^Rollout 1 of “.*” has parts that cannot be read \(") as raised:
        page(path)
    assert raised.value.hint == "Take its line out."


def test_what_was_told_of_another_number_of_rollouts_is_left_out() -> None:
    told = {"planned": 9, "stopped": "The limit is reached."}
    for counted, is_shown in ((5, True), (4, False), (None, True)):
        text = page(**told, counted=counted)
        assert ("5 of 9 rollouts are done." in text, "The limit is reached." in text) == (is_shown, is_shown)


def test_a_run_of_nothing_has_a_page(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.touch()
    text = page(path)
    assert "Nothing was graded." in text
    assert "0 rollouts" in text
