"""The report in a browser: it shows what it has, is used with a keyboard, and nothing in it runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from playwright.sync_api import expect

from browser.report_page import Open, Seen, letters
from rollout.engine import Trace

OURS = frozenset(
    """html head meta title style body main header section footer nav article h1 h2 h3 h4 p a b small span bdi code kbd
    pre dl dt dd ul li table thead tbody tr th td figure figcaption details summary div input select option button label
    iframe script noscript svg g title line rect circle text""".split()  # noqa: SIM905
)
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end of script": "</script><script>alert(2)</script>",
    "comment": "<!--<script>",
    "end of text": "-->]]></style></title></textarea></noscript>",
    "image": "<img src=http://evil.test/a.png onerror=alert(3)>",
    "svg": "<svg onload=alert(4)><a xlink:href='javascript:alert(5)'>x</a></svg>",
    "iframe": "<iframe src='javascript:alert(6)' srcdoc='<script>alert(7)</script>'></iframe>",
    "address": "javascript:alert(8)",
    "attribute": "\" onmouseover=alert(9) autofocus onfocus=alert(10) x='",
    "style": "<style>*{display:none;background:url(http://evil.test/b.png)}</style>",
    "link and base": "<link rel=stylesheet href=http://evil.test/c.css><base href=http://evil.test/>",
    "refresh": "<meta http-equiv=refresh content='0;url=http://evil.test/d'>",
    "form and object": "<form action=http://evil.test/e><button>x</button></form><object data=x></object><embed src=x>",
    "template": "{{ 7 * 7 }}{% raw %}${7*7}&lt;b&gt;&#106;avascript:",
    "bidi and control": "\u202etxt.exe\u2066\u200f\x00\x07\x1b[31m\x9b\ud800\u2028\u2029\ufeff",
    "prototype": "__proto__",
    "escapes": "\\u003cscript>\\",
}
KEPT = {"role", "outcome", "ending", "charged_to", "raw"}


def spoilt(value: Any, text: str) -> Any:
    """A value with ``text`` in every text and name in it that a model, a tool or an author could have written."""
    if isinstance(value, str):
        return value + text
    if isinstance(value, list):
        return [spoilt(each, text) for each in value]
    if isinstance(value, dict):
        return {key: each if key in KEPT else spoilt(each, text) for key, each in value.items()}
    return value


def spoilt_rollout(line: dict[str, Any], text: str) -> dict[str, Any]:
    line = spoilt(copy.deepcopy(line), text)
    trace = line["trace"]
    for part in (trace["initial_state"], trace["final_state"]):
        part[text] = {text: [text]}
    trace["final_state"][f"new {text}"] = f"{text}\n{text}"
    for call in trace["calls"]:
        call["args"] = {text: f"{text}\n{text}"}
    for mark in line["verdict"]["marks"]:
        mark["evidence"] = {text: text}
    return line


def look_at_everything(seen: Seen) -> None:
    """Opens every rollout and all there is to unfold, and goes through the table's filters."""
    page = seen.page
    for index in range(page.locator("section.rollouts tbody th a").count()):
        page.locator("section.rollouts tbody th a").nth(index).click()
        expect(page.locator("article.one")).to_be_visible()
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        check_elements(seen)
        page.keyboard.press("Escape")
        expect(page.locator("#overview")).to_be_visible()
    for choice in page.locator(".filters select").all():
        for option in range(choice.locator("option").count()):
            choice.select_option(index=option)
    for link in page.locator("a[data-task], a[data-primitive]").all()[:12]:
        link.click()
    check_elements(seen)


def check_elements(seen: Seen) -> None:
    told = seen.page.evaluate(
        """() => {
          const all = [...document.querySelectorAll("*")];
          return {
            names: [...new Set(all.map((each) => each.localName))],
            handlers: all.flatMap((each) => each.getAttributeNames()).filter((name) => /^on|^style$|^src$/.test(name)),
            addresses: all.map((each) => each.getAttribute("href") ?? "#").filter((each) => !each.startsWith("#")),
            scripts: [...document.scripts].filter((each) => each.type !== "application/json").length,
            moving: document.body.innerText.match(/[\\u0080-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]/g),
            seen: getComputedStyle(document.body).display,
          };
        }"""
    )
    assert set(told.pop("names")) <= OURS
    assert told == {"handlers": [], "addresses": [], "scripts": 1, "moving": None, "seen": "block"}


def test_nothing_that_others_wrote_runs_or_becomes_an_element(open_report: Open) -> None:
    everything = " ".join(HOSTILE.values())
    lines = [spoilt_rollout(line, everything) for line in letters()]
    for number, text in enumerate(HOSTILE.values()):
        line = letters()[number % 2]
        line["trace"]["task"] += str(number)
        lines.append(spoilt_rollout(line, text))
    config = {
        "environment": everything,
        "digest": everything,
        "begun": everything,
        "options": {"task": everything},
        "inputs": {"model": everything},
    }
    seen = open_report(lines, config=config, stopped=everything, folder=everything, planned=999)
    assert len(seen.rows()) == len(HOSTILE) + 5
    look_at_everything(seen)
    assert seen.trouble == []


def test_a_page_that_is_shown_as_a_page_does_nothing_either(open_report: Open) -> None:
    lines = []
    for name in HOSTILE:
        line = letters()[0]
        line["trace"]["task"] = name
        lines.append(line)

    def picture(trace: Trace) -> str:
        return f"<p>The shop</p>{HOSTILE[trace.task]}<a href=http://evil.test/>x</a><script>top.name = 'taken'</script>"

    seen = open_report(lines, picture=picture)
    page = seen.page
    for name in HOSTILE:
        page.evaluate("(link) => { location.hash = `rollout=${link}` }", f"{name}:0")
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.frame_locator("iframe").get_by_text("The shop")).to_be_visible()
        assert all(each.url.startswith(("file:", "about:")) for each in page.frames)
    # That the browser says what it forbade is as it should be; that it fetched, asked or opened something is not.
    assert [each for each in seen.trouble if not each.startswith(("console:", "forbidden:"))] == []
    assert page.evaluate("name") == ""


@pytest.mark.parametrize(
    ("markup", "directive"),
    [
        ("<script>document.title = 'taken'</script>", "script-src-elem"),
        ("<img src=x onerror=\"document.title = 'taken'\">", "img-src"),
        ("<details open ontoggle=\"document.title = 'taken'\">x</details>", "script-src-attr"),
        ("<iframe src=https://evil.test/></iframe>", "frame-src"),
        ("<style>body { display: none }</style>", "style-src-elem"),
        ("<link rel=stylesheet href=https://evil.test/a.css>", "style-src-elem"),
        ("<base href=https://evil.test/>", "base-uri"),
    ],
)
def test_what_came_past_the_escaping_would_be_forbidden_by_the_policy(
    open_report: Open, markup: str, directive: str
) -> None:
    seen = open_report(
        change=lambda text: text.replace('<main id="overview">', f'<main id="overview">{markup}')
    )
    expect(seen.page.locator("section.rollouts tbody tr")).to_have_count(5)
    seen.page.wait_for_timeout(200)
    assert [each for each in seen.trouble if each.startswith(f"forbidden: {directive} ")]
    assert not [each for each in seen.trouble if each.startswith("request:")]
    assert seen.page.title() == "letters · openai/gpt-4o-mini"


def test_the_whole_report_runs_without_a_word_of_complaint(open_report: Open) -> None:
    seen = open_report(picture=lambda trace: "<section><h1>Sent</h1></section>")
    look_at_everything(seen)
    assert seen.trouble == []


def test_the_table_is_narrowed_by_words_task_primitive_and_outcome(open_report: Open) -> None:
    seen = open_report()
    page = seen.page
    assert seen.rows() == ["late:0", "late:1", "polite:0", "polite:1", "shift:0"]
    page.get_by_role("button", name="error").click()
    assert seen.rows() == ["polite:1", "shift:0"]
    page.get_by_role("button", name="unscored").click()
    assert seen.rows() == ["polite:0", "polite:1", "shift:0"]
    page.get_by_role("combobox", name="Task").select_option("shift")
    assert seen.rows() == ["shift:0"]
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("combobox", name="Primitive").select_option(label="✗ sent (failed)")
    assert seen.rows() == ["late:1", "polite:0"]
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Find in all that was said").fill("HAFEN 3")
    expect(page.get_by_role("status")).to_have_text("1 of 5 rollouts")
    assert seen.rows() == ["late:0"]
    # Only what was said is searched, not the words that the page has for it.
    page.get_by_label("Find in all that was said").fill("arguments")
    expect(page.locator("section.rollouts tbody tr")).to_contain_text(["1 of 3 places is as asked."])
    assert seen.rows() == ["late:1"]
    page.get_by_label("Find in all that was said").fill("nobody said this")
    expect(page.get_by_text("No rollout is so.")).to_be_visible()


def test_a_narrowed_table_has_an_address_of_its_own(open_report: Open) -> None:
    seen = open_report(at="#outcome=error&q=broke+down")
    assert seen.rows() == ["shift:0"]
    seen.page.get_by_role("link", name="shift").last.click()
    expect(seen.page.get_by_text("1 of 1")).to_be_visible()
    seen.page.go_back()
    expect(seen.page.get_by_role("status")).to_have_text("1 of 5 rollouts")


def test_the_table_is_sorted_by_its_columns(open_report: Open) -> None:
    seen = open_report()
    time = seen.page.get_by_role("columnheader", name="Time").get_by_role("button")
    time.click()
    assert seen.rows()[0] == "shift:0"
    time.click()
    assert seen.rows()[0] == "polite:1"
    expect(seen.page.get_by_role("columnheader", name="Time")).to_have_attribute("aria-sort", "descending")


def test_a_transcript_shows_calls_what_came_of_them_the_verdict_and_what_changed(open_report: Open) -> None:
    page = open_report(at="#rollout=late:1").page
    expect(page.get_by_role("heading", level=1)).to_have_text("late trial 1")
    expect(page.locator(".call.refused")).to_have_count(2)
    expect(page.locator(".call.failed .result")).to_have_text("There is no letter “L-9”.")
    expect(page.locator(".mark").first).to_contain_text("“send” was called 2 times, and failed each time.")
    expect(page.locator(".change").first).to_contain_text("clerk.shift")
    expect(page.locator(".change").first.locator(".removed")).to_contain_text("1")
    expect(page.locator(".change").first.locator(".added")).to_contain_text("2")


def test_it_is_used_with_a_keyboard(open_report: Open) -> None:
    page = open_report().page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the rollouts")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("letter l-1")
    expect(page.get_by_role("status")).to_have_text("4 of 5 rollouts")
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_have_text("5 rollouts")
    page.locator("section.rollouts tbody th a").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("late trial 1")
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("polite trial 0")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.get_by_role("heading", level=1)).to_have_text("late trial 0")
    page.keyboard.press("k")
    expect(page.get_by_role("heading", level=1)).to_have_text("late trial 0")
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("late trial 1")
    page.keyboard.press("Escape")
    expect(page.locator("section.rollouts tbody th a").nth(1)).to_be_focused()


def test_an_address_of_no_rollout_says_so(open_report: Open) -> None:
    page = open_report(at="#rollout=nobody:0").page
    expect(page.get_by_role("status")).to_have_text("There is no such rollout in this page.")


def test_the_figures_are_read_without_script(open_report: Open) -> None:
    page = open_report(script=False).page
    expect(page.get_by_role("heading", name="Pass rate", exact=True)).to_be_visible()
    expect(page.get_by_text("of 2 graded, 95 % interval 9.5 % to 90.5 % (Wilson)")).to_be_visible()
    expect(page.get_by_role("img", name="50 %, 95 % interval 9.5 % to 90.5 %")).to_be_visible()
    expect(page.get_by_role("img", name="Tool calls, calls in a rollout: 0: 2; 1: 1; 3: 2")).to_be_visible()
    expect(page.get_by_text("need JavaScript")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 700, 1280])
def test_nothing_sticks_out_of_the_page(open_report: Open, width: int, dark: bool) -> None:
    lines = [spoilt_rollout(line, "x" * 3_000) for line in letters()]
    seen = open_report(lines, width=width, dark=dark, config={"digest": "y" * 3_000})
    page = seen.page
    page.evaluate("document.querySelector('details.settings').open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("section.rollouts tbody th a").first.click()
    expect(page.locator("article.one")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(18, 21, 26)" if dark else "rgb(246, 247, 249)")


def test_two_thousand_rollouts_are_no_trouble(open_report: Open) -> None:
    lines = []
    for trial in range(400):
        for line in letters():
            line["trace"]["trial"] = trial
            line["trace"]["messages"][1]["content"] += f" Number {trial}-{line['trace']['task']}."
            if (line["trace"]["task"], trial) not in {
                (each["trace"]["task"], each["trace"]["trial"]) for each in lines[-4:]
            }:
                lines.append(line)
        if trial % 2:
            line = letters()[0]
            line["trace"].update(task=f"extra-{trial}", trial=0)
            lines.append(line)
    seen = open_report(lines)
    page = seen.page
    expect(page.get_by_role("status")).to_have_text(f"{len(lines):,} rollouts")
    assert len(seen.rows()) == 100
    page.get_by_role("button", name="Show 100 more").click()
    assert len(seen.rows()) == 200
    page.get_by_label("Find in all that was said").fill("number 399-shift")
    expect(page.get_by_role("status")).to_have_text(f"1 of {len(lines):,} rollouts")
    page.locator("section.rollouts tbody th a").click()
    expect(page.locator(".talk").get_by_text("Number 399-shift.")).to_be_visible()
    assert seen.trouble == []


def test_a_text_of_a_megabyte_is_shown_as_far_as_it_is_in_the_page(open_report: Open) -> None:
    [line, *_] = letters()
    line["trace"]["messages"][-1]["content"] = "z" * 1_000_000
    page = open_report([line], at="#rollout=late:0").page
    expect(page.get_by_text("… 950,000 more characters not in this page.")).to_be_visible()


def test_a_transcript_that_was_left_out_says_so_when_it_is_opened(open_report: Open) -> None:
    [line, *_] = letters()
    line["trace"]["messages"] += [{"role": "user", "content": f"{n} {'z' * 1_000}"} for n in range(5_000)]
    seen = open_report([line], at="#rollout=late:0")
    expect(seen.page.get_by_text("The transcript of this rollout is left out")).to_be_visible()
    assert seen.trouble == []


def test_on_a_phone_no_word_of_a_table_is_broken(open_report: Open) -> None:
    page = open_report(width=420).page
    broken = page.evaluate(
        """() => [...document.querySelectorAll(".primitives th, .tasks th")].filter((cell) => {
          const range = document.createRange();
          const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          for (let text; (text = walk.nextNode()); ) {
            for (const word of text.data.matchAll(/[A-Za-z]+/g)) {
              range.setStart(text, word.index);
              range.setEnd(text, word.index + word[0].length);
              if (new Set([...range.getClientRects()].map((each) => each.top)).size > 1) return true;
            }
          }
          return false;
        }).map((cell) => cell.textContent)"""
    )
    assert broken == []
    assert page.locator("svg.histogram .most").all_text_contents()[0] == "1 rollout"


def test_a_turn_without_a_word_or_a_call_says_so(open_report: Open) -> None:
    lines = letters()[:1]
    trace = lines[0]["trace"]
    trace["messages"] = [trace["messages"][0], {"role": "assistant", "content": ""}]
    trace["calls"], trace["exchanges"] = [], []
    page = open_report(lines).page
    page.locator("section.rollouts tbody th a").first.click()
    expect(page.locator(".step.assistant")).to_have_text("assistant(said nothing)")
    expect(page.locator(".head")).to_contain_text("without judging")
