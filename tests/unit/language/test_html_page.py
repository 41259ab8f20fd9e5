"""Plain HTML as elements: what is kept, under which name, and what would have run."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.language.html_page import DEEPEST, HtmlError, read_html


def elements(html: str) -> list[dict[str, Any]]:
    return read_html(html).elements


def test_a_hidden_option_may_be_the_selected_one() -> None:
    (select,) = elements("<select name=a><option value='' selected disabled hidden>Choose<option>b</select>")
    assert (select["value"], [each["value"] for each in select["options"]]) == ("", ["", "b"])


def test_a_script_is_told_of_also_where_it_is_hidden() -> None:
    assert [each.what for each in read_html("<div hidden><script>x</script></div>").scripts] == ["a script"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a <b>b</b>\n c<p>d", [{"type": "text", "text": "a b c"}, {"type": "text", "text": "d"}]),
        ("<div>a<div>b</div>c</div>", [{"type": "text", "text": text} for text in "abc"]),
        ("<h3>Tea <em>time</em></h3>", [{"type": "heading", "level": 3, "text": "Tea time"}]),
        ("<a href=/x>go <b>on</b></a>", [{"type": "link", "text": "go on", "href": "/x"}]),
        ("<a href=/x><img alt=Home></a>", [{"type": "link", "text": "Home", "href": "/x"}]),
        ("<a name=top>top</a>", [{"type": "text", "text": "top"}]),
        ("<style>p{}</style><template>x</template><p hidden>y</p>", []),
        ('<b style="color: red; DISPLAY:none">x</b><i style="visibility: hidden !important">y</i>', []),
        ('<div style="display: none"><a href=/x>x</a><ul><li>y</ul></div><dialog>z</dialog>', []),
        (
            '<button><i aria-hidden="true">x</i>Close</button>',
            [{"type": "button", "text": "Close", "submit": True}],
        ),
        ("<table><tr hidden><td>1</table>", [{"type": "table", "rows": []}]),
        (
            '<dialog open>a</dialog><details><summary>b</summary>c</details><p style="display: nonesuch">d</p>',
            [{"type": "text", "text": text} for text in "abcd"],
        ),
        ("1 &lt; 2 &amp;amp;", [{"type": "text", "text": "1 < 2 &amp;"}]),
        ("<button>Go</button>", [{"type": "button", "text": "Go", "submit": True}]),
        ("<button type=button disabled>Go</button>", [{"type": "button", "text": "Go", "disabled": True}]),
        (
            "<input type=submit name=how value=now>",
            [{"type": "button", "text": "now", "name": "how", "value": "now", "submit": True}],
        ),
        (
            "<label>Mail <input type=email name=m required maxlength=9></label>",
            [
                {
                    "type": "input",
                    "name": "m",
                    "label": "Mail",
                    "required": True,
                    "inputType": "email",
                    "maxLength": 9,
                }
            ],
        ),
        (
            "<label for=a>Age</label><input id=a name=a type=number min=1 max=9 value=3>",
            [
                {
                    "type": "input",
                    "id": "a",
                    "name": "a",
                    "label": "Age",
                    "inputType": "number",
                    "value": "3",
                    "min": "1",
                    "max": "9",
                    "step": 1,
                }
            ],
        ),
        (
            "<input name=price type=number step=0.01><input name=any type=number step=any>",
            [
                {"type": "input", "name": "price", "inputType": "number", "step": 0.01},
                {"type": "input", "name": "any", "inputType": "number"},
            ],
        ),
        (
            "<input type=range name=r max=11><input type=range name=s min=x value=400>",
            [
                {
                    "type": "input",
                    "name": "r",
                    "inputType": "number",
                    "value": "6",
                    "min": 0,
                    "max": 11,
                    "step": 1,
                },
                {
                    "type": "input",
                    "name": "s",
                    "inputType": "number",
                    "value": "100",
                    "min": 0,
                    "max": 100,
                    "step": 1,
                },
            ],
        ),
        (
            "<fieldset disabled><legend><input name=a></legend><input name=b readonly></fieldset>",
            [
                {"type": "input", "name": "a", "inputType": "text"},
                {"type": "input", "name": "b", "inputType": "text", "disabled": True, "readOnly": True},
            ],
        ),
        (
            "<label><input type=checkbox name=c>I agree</label> <input name=n>",
            [
                {"type": "checkbox", "name": "c", "label": "I agree"},
                {"type": "input", "name": "n", "inputType": "text"},
            ],
        ),
        (
            "<select name=s><option disabled>A</option><optgroup label=o disabled><option>B</optgroup></select>",
            [
                {
                    "type": "select",
                    "name": "s",
                    "options": [
                        {"value": "A", "label": "A", "disabled": True},
                        {"value": "B", "label": "B", "disabled": True},
                    ],
                }
            ],
        ),
        ("<input type=color name=c>", [{"type": "input", "name": "c", "inputType": "text"}]),
        (
            "<label><input type=checkbox name=ok checked> Yes</label>",
            [{"type": "checkbox", "name": "ok", "label": "Yes", "checked": True}],
        ),
        ("<input type=radio name=by>", [{"type": "radio", "name": "by", "value": "on"}]),
        ("<textarea name=t>\na\nb</textarea>", [{"type": "textarea", "name": "t", "value": "a\nb"}]),
        (
            "<select name=s><optgroup label=o><option value=1>One<option selected>Two</select>",
            [
                {
                    "type": "select",
                    "name": "s",
                    "options": [{"value": "1", "label": "One"}, {"value": "Two", "label": "Two"}],
                    "value": "Two",
                }
            ],
        ),
        ("<ol><li>a<li>b <i>c</i></ol>", [{"type": "list", "items": ["a", "b c"], "ordered": True}]),
        ("<ul><li><a href=/x>a</a></ul>", [{"type": "link", "text": "a", "href": "/x"}]),
        (
            "<table><tr><th>A<tr><td>1</table>",
            [{"type": "table", "columns": ["A"], "rows": [["1"]]}],
        ),
        (
            "<form id=f action=/x><p><input name=a></form>",
            [
                {
                    "type": "form",
                    "id": "f",
                    "action": "/x",
                    "elements": [{"type": "input", "name": "a", "inputType": "text"}],
                }
            ],
        ),
    ],
)
def test_html_is_read_as_elements(html: str, expected: list[dict[str, Any]]) -> None:
    assert elements(html) == expected


def test_the_title_is_the_head_s() -> None:
    assert read_html("<title>Tea &amp; more</title><svg><title>x</title></svg>").title == "Tea & more"
    assert read_html("<p>Tea").title is None


@pytest.mark.parametrize(
    ("html", "what", "shown"),
    [
        ("<p><script>x</script>", "a script", "<script>"),
        ("<svg><script>x</script></svg>", "a script", "<script>"),
        ("<template><script>x</script></template>", "a script", "<script>"),
        ("<p OnClick = 'x()'>", "the handler onclick", "OnClick"),
        ("<a href='JavaScript:x()'>a</a>", "a script in href", "href"),
        ("<a href='java\tscript:x()'>a</a>", "a script in href", "href"),
        ("<a href='&#106;avascript:x()'>a</a>", "a script in href", "href"),
        ("<form action=javascript:x()></form>", "a script in action", "action"),
        ("<svg><a xlink:href='javascript:x()'>a</a></svg>", "a script in xlink:href", "xlink:href"),
        ("<iframe src=/x></iframe>", "a frame", "<iframe src=/x>"),
        ("<object data=x></object>", "an object", "<object data=x>"),
        ("<meta http-equiv=Refresh content=1>", "a refresh", "<meta http-equiv=Refresh content=1>"),
    ],
)
def test_what_would_run_is_told_with_its_place(html: str, what: str, shown: str) -> None:
    (script,) = read_html(html).scripts
    assert script.what == what
    assert html[script.start : script.end] == shown


@pytest.mark.parametrize(
    "html",
    ["<!-- <script> -->", "&lt;script&gt;", "<p title='onclick=x'>javascript:x</p>", "<img src='data:x'>"],
)
def test_what_only_looks_like_a_script_is_none(html: str) -> None:
    assert read_html(html).scripts == ()


def test_every_element_knows_its_tag() -> None:
    html = "<h1>a</h1>\n<form><input name=x></form><table><tr><td><a href=/y>b</a></table>"
    page = read_html(html)
    tags = {route: html[start:end] for route, (start, end) in page.offsets.items()}
    assert tags == {
        (0,): "<h1>",
        (1,): "<form>",
        (1, "elements", 0): "<input name=x>",
        (2,): "<table>",
        (2, "rows", 0, 0): "<a href=/y>",
    }


def test_a_page_that_is_nested_too_deep_is_refused() -> None:
    assert elements("<div>" * (DEEPEST - 10) + "a") == [{"type": "text", "text": "a"}]
    with pytest.raises(HtmlError, match="deeper than"):
        read_html("<div>" * (DEEPEST + 10))


@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<table>",
                "<td>",
                "<tr>",
                "</table>",
                "<form>",
                "</form>",
                "<input>",
                "<select>",
                "<option>",
                "</select>",
                "<a",
                "href=x>",
                "</a>",
                "<ul>",
                "<li>",
                "</ul>",
                "<label>",
                "</label>",
                "<b>",
                "</b>",
                "<button>",
                "</button>",
                "<textarea>",
                "<svg>",
                "<!--",
                "-->",
                "text",
                "&lt;",
                "<",
                ">",
                "<h1>",
                "<template>",
            ]
        ),
        max_size=25,
    )
)
@settings(max_examples=150, deadline=None)
def test_any_soup_of_tags_is_read(tags: list[str]) -> None:
    html = "".join(tags)
    page = read_html(html)
    assert all(0 <= start < end <= len(html) for start, end in page.offsets.values())


def test_the_parser_is_loaded_for_the_first_page_only() -> None:
    code = (
        "import sys\nfrom rollout.language.html_page import read_html\nassert 'justhtml' not in sys.modules\n"
        "read_html('<p>a')\nassert 'justhtml' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
