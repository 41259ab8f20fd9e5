"""A site made ready, its fields, and pages shown as HTML."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.check import check
from rollout.engine.toolbox import Toolbox
from rollout.environment import Environment, Task
from rollout.source import read_one
from rollout.source.contract import schema
from rollout.templates import TemplateError, prepare
from rollout.templates._browser_fields import fault_of, number_of, whole_match
from rollout.templates._browser_pages import compile_pages
from rollout.templates._browser_search import search
from rollout.templates.browser import TOOLS, BrowserStage, show_html

ENVIRONMENTS = Path(__file__).parents[3] / "environments"


def site(*elements: dict[str, Any], **config: Any) -> Environment:
    pages = [{"url": "/", "title": "Home", "elements": list(elements)}, {"url": "/next", "elements": []}]
    return Environment("site", "Site", "browser", config={"initialUrl": "/", "pages": pages, **config})


def test_the_schema_lists_the_tools() -> None:
    assert schema("browser")["x-tools"] == [tool.name for tool in TOOLS]


def test_every_tool_has_a_schema_that_takes_nothing_else() -> None:
    assert Toolbox(TOOLS).tools == TOOLS
    for tool in TOOLS:
        assert tool.description.endswith(".")
        assert tool.parameters["additionalProperties"] is False
        assert all(parameter["description"] for parameter in tool.parameters["properties"].values())


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        (site(initialUrl="/nowhere"), "There is no page “/nowhere” for the site to start on."),
        (
            site(initialState={"url": 1}),
            "The state of a site cannot have the key “url”: it is the browser's own.",
        ),
        (site(pages=[]), "The site has no pages."),
        (site(pages=[{"url": "/"}, {"url": "/"}]), "Two pages have the URL “/”."),
        (site({"type": "text", "text": "${nope}"}), "The page “/” cannot be shown. “${nope}” names “nope”"),
        (
            site({"type": "text", "text": "a", "when": "a b"}),
            "The page “/” cannot be shown. “b” cannot stand here.",
        ),
        (
            site({"type": "form", "elements": [{"type": "form", "elements": []}]}),
            "A form of the page “/” stands inside another.",
        ),
        (
            site({"type": "button", "text": "a", "id": "x"}, {"type": "button", "text": "b", "id": "x"}),
            "Two elements of the page “/” have the id “x”.",
        ),
        (site({"type": "input", "name": "a", "pattern": "("}), "The pattern “(” of an input is no regular"),
        (site({"type": "button", "text": "a", "mutates": {"path": "a["}}), "The page “/” cannot be shown."),
        (
            site(pages=[{"url": "/", "html": "<p onclick='x()'>a</p>"}]),
            "The page “/” has the handler onclick; nothing on a page is run.",
        ),
    ],
)
def test_a_site_that_cannot_be_run_says_why(environment: Environment, why: str) -> None:
    with pytest.raises(TemplateError) as caught:
        prepare(environment)
    assert str(caught.value).startswith(why)


def field(**spec: Any) -> Any:
    pages = compile_pages({"pages": [{"url": "/", "elements": [{"type": "input", "name": "a", **spec}]}]})
    return pages["/"].all[0]


@pytest.mark.parametrize(
    ("spec", "accepted", "refused"),
    [
        ({"required": True}, ["a", " ", "0"], [""]),
        (
            {"inputType": "email"},
            ["", "a@b", "a.b+c@d-e.test"],
            ["a", "a@", "@b", "a b@c", "a@b..c", "a@-b.test"],
        ),
        (
            {"inputType": "number"},
            ["", "1", "-1.5", "1e3", ".5", "007"],
            ["a", "1,5", "+1", "0x1", "NaN", "1e999", "١", "1_0", "9" * 50],
        ),
        ({"inputType": "number", "min": 1, "max": 2.5}, ["1", "2.5", "1.0"], ["0.99", "2.51", "-1"]),
        ({"inputType": "number", "min": "1"}, ["1"], ["0"]),
        ({"inputType": "number", "step": 0.1}, ["0.3", "1", "-0.7", "1e300"], ["0.35", "1e-9"]),
        ({"inputType": "number", "step": 2, "min": 1}, ["1", "3"], ["2", "3.5"]),
        ({"inputType": "number", "step": 5, "value": 2}, ["2", "-3"], ["5"]),
        ({"required": True, "maxLength": 1, "readOnly": True}, ["", "abc"], []),
        (
            {"inputType": "date"},
            ["", "2024-02-29"],
            ["2025-02-29", "2025-13-01", "28.02.2025", "2025-2-8", "20250208", "2025-02-08T00:00"],
        ),
        (
            {"inputType": "date", "min": "2025-02-01", "max": "2025-02-28"},
            ["2025-02-01", "2025-02-28"],
            ["2025-01-31", "2025-03-01"],
        ),
        ({"inputType": "url"}, ["https://a.test/b?c", "mailto:a@b"], ["a.test", "/a", "https://a b"]),
        ({"pattern": "[0-9]{4,5}"}, ["", "1234", "12345"], ["123", "123456", "1234\n", "x1234"]),
        ({"pattern": "a|bc"}, ["a", "bc"], ["ac", "abc"]),
        ({"minLength": 2, "maxLength": 3}, ["", "ab", "åß😀"], ["a", "abcd"]),
        ({"inputType": "tel"}, ["anything"], []),
    ],
)
def test_a_form_checks_what_was_typed(spec: dict[str, Any], accepted: list[str], refused: list[str]) -> None:
    element = field(**spec)
    assert {text: fault_of(element, text, ()) for text in accepted} == dict.fromkeys(accepted)
    assert [text for text in refused if fault_of(element, text, ()) is None] == []


def test_a_pattern_that_backtracks_without_end_does_not_match() -> None:
    assert not whole_match(r"(a+)+(?=b)b", "a" * 200)


@given(st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_only_finite_numbers_are_numbers(text: str) -> None:
    value = number_of(text)
    assert value is None or json.loads(json.dumps(value, allow_nan=False)) == value


ADA = Task("Do it.")


def call(stage: BrowserStage, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    async def run() -> tuple[list[str], dict[str, Any]]:
        world = stage.open(ADA)
        said = [(await world.call(name, args)).content for name, args in calls]
        return said, world.state()

    return asyncio.run(run())


def test_a_box_that_was_sent_counts_though_the_page_is_only_looked_at_again() -> None:
    stage = BrowserStage(
        site(
            {
                "type": "form",
                "id": "form",
                "action": "/next",
                "elements": [{"type": "checkbox", "id": "stay", "name": "stay", "label": "Stay"}],
            }
        )
    )
    said, state = call(
        stage,
        ("submit", {"element": "form", "fields": {"stay": True}}),
        ("navigate", {"url": "/"}),
        ("read_page", {}),
    )
    assert "checked='false'" in said[2]
    assert state["values"]["/"] == {"stay": True}
    _, state = call(
        stage,
        ("submit", {"element": "form", "fields": {"stay": True}}),
        ("navigate", {"url": "/"}),
        ("check", {"element": "stay"}),
        ("uncheck", {"element": "stay"}),
    )
    assert state["values"]["/"] == {"stay": False}


def test_a_name_that_two_forms_use_is_only_a_value_where_they_agree() -> None:
    form = {"type": "form", "elements": [{"type": "input", "name": "q", "label": "Q"}]}
    stage = BrowserStage(site({**form, "id": "a"}, {**form, "id": "b"}))
    assert call(stage)[1]["values"]["/"] == {"q": ""}
    assert call(stage, ("fill", {"element": "2", "value": "x"}))[1]["values"]["/"] == {}


def test_a_form_without_a_working_button_cannot_be_submitted() -> None:
    button = {"type": "button", "id": "send", "text": "Send", "submit": True, "disabled": True}
    stage = BrowserStage(
        site({"type": "form", "id": "form", "elements": [button], "mutates": {"path": "sent", "value": 1}})
    )
    (said,), state = call(stage, ("submit", {"element": "form"}))
    assert json.loads(said)["error"] == "The form cannot be submitted: its button “send” is disabled."
    assert "sent" not in state


def test_a_search_for_clicks_has_an_end() -> None:
    counter = [
        {"type": "button", "id": f"add-{n}", "text": "Add", "mutates": {"path": "log[]", "value": n}}
        for n in range(3)
    ]
    stage = BrowserStage(site(*counter, initialState={"log": []}))
    script = search(stage.session(ADA), {"log": [2, 0]}, None)
    assert script == [{"tool": "click", "args": {"element": name}} for name in ("add-2", "add-0")]
    assert search(stage.session(ADA), {"log": [9]}, None) is None
    assert search(stage.session(ADA), {}, None) is None


@pytest.mark.parametrize("name", ["web-shop", "login-portal"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_whatever_an_agent_does_is_answered_and_the_same_twice(name: str, data: st.DataObject) -> None:
    stage, task = stage_of(name)
    refs = ["email", "sign-in", "to-pens", "nav-home", "nav-cart", "add", "1", "2", "7", "x", "order", "name"]
    values = st.one_of(
        st.text(max_size=8), st.integers(), st.booleans(), st.lists(st.text(max_size=3), max_size=2)
    )
    steps = data.draw(
        st.lists(
            st.one_of(
                st.tuples(
                    st.sampled_from(["click", "check", "uncheck"]),
                    st.fixed_dictionaries({"element": st.sampled_from(refs)}),
                ),
                st.tuples(
                    st.just("fill"),
                    st.fixed_dictionaries({"element": st.sampled_from(refs), "value": st.text(max_size=9)}),
                ),
                st.tuples(
                    st.just("submit"),
                    st.fixed_dictionaries(
                        {
                            "element": st.sampled_from(refs),
                            "fields": st.dictionaries(
                                st.sampled_from(["email", "password", "quantity", "nib"]), values, max_size=3
                            ),
                        }
                    ),
                ),
                st.tuples(
                    st.just("navigate"),
                    st.fixed_dictionaries(
                        {
                            "url": st.sampled_from(
                                ["/", "/home", "/cart", "/pens/pen-wren", "?x", "//", "\x00"]
                            )
                        }
                    ),
                ),
                st.tuples(st.sampled_from(["back", "read_page"]), st.just({})),
            ),
            max_size=12,
        )
    )

    async def run() -> tuple[list[Any], dict[str, Any]]:
        world = stage.open(task)
        answers = [await world.call(tool, args) for tool, args in steps]
        return answers, world.state()

    first, second = asyncio.run(run()), asyncio.run(run())
    assert first == second
    assert json.loads(json.dumps(first[1], allow_nan=False)) == first[1]


STAGES: dict[str, tuple[BrowserStage, Task]] = {}


def stage_of(name: str) -> tuple[BrowserStage, Task]:
    if name not in STAGES:
        environment = check(read_one(ENVIRONMENTS / name)).environment()
        STAGES[name] = BrowserStage(environment), environment.tasks[0]
    return STAGES[name]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;"


def test_a_page_is_shown_as_html_in_which_nothing_can_run() -> None:
    everything = site(
        {"type": "heading", "text": HOSTILE, "level": 1},
        {"type": "text", "text": "${state.text}"},
        {"type": "link", "text": HOSTILE, "href": "javascript:alert(1)"},
        {"type": "button", "text": HOSTILE},
        {"type": "image", "alt": HOSTILE, "src": "javascript:alert(1)"},
        {"type": "list", "items": [HOSTILE]},
        {
            "type": "table",
            "label": HOSTILE,
            "columns": [HOSTILE],
            "rows": [[HOSTILE, {"type": "text", "text": HOSTILE}]],
        },
        {
            "type": "form",
            "label": HOSTILE,
            "action": "/next",
            "elements": [
                {"type": "input", "name": "a", "label": HOSTILE, "value": HOSTILE},
                {"type": "input", "name": "p", "label": "p", "inputType": "password"},
                {"type": "input", "name": "h", "inputType": "hidden", "value": "hidden-value"},
                {"type": "textarea", "name": "t", "placeholder": HOSTILE, "value": HOSTILE},
                {"type": "checkbox", "name": "c", "label": HOSTILE, "checked": True},
                {
                    "type": "select",
                    "name": "s",
                    "label": HOSTILE,
                    "options": [HOSTILE, {"value": "b", "label": HOSTILE}],
                },
            ],
        },
        initialState={"text": "start"},
    )
    state = call(BrowserStage(everything))[1] | {"text": HOSTILE}
    state["values"]["/"] |= {"p": "s3cret", "t": "typed", "c": False}
    page = show_html(everything, state)
    seen = Tags()
    seen.feed(page)
    assert not seen.tags & {"script", "img", "form", "iframe", "svg", "style", "link"}
    assert not seen.attributes & {"href", "src", "action", "onerror", "onclick", "style"}
    assert "typed" in page and "s3cret" not in page and "hidden-value" not in page
    assert " checked" not in page


def test_a_state_of_another_site_is_not_shown() -> None:
    with pytest.raises(ValueError, match="There is no page “/elsewhere”"):
        show_html(site(), {"url": "/elsewhere", "values": {}})


def test_a_site_without_conditions_or_html_loads_neither_evaluator_nor_parser() -> None:
    code = (
        "import sys\nfrom rollout.check import check\nfrom rollout.source import read_one\n"
        "from rollout.templates import prepare\n"
        f"prepare(check(read_one({str(ENVIRONMENTS / 'login-portal')!r})).environment())\n"
        "assert not {'cel', 'justhtml'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
