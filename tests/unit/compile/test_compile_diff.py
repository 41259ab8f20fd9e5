"""What a difference says of an environment's parts, and that hostile or huge ones stay readable."""

from __future__ import annotations

import copy
import json
import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from compile_strategies import environments
from hypothesis import given, settings

from rollout import Environment, Task
from rollout.compile.change import Change, Effect
from rollout.compile.diff import appeared, diff, disappeared
from rollout.compile.line_changes import line_changes
from rollout.compile.meaning import mean_the_same
from rollout.compile.payload import compile_environment
from rollout.compile.review import Entry, in_words, is_line_change, told
from rollout.compile.review_json import describe
from rollout.compile.review_markdown import LIMIT
from rollout.compile.review_markdown import render as render_markdown
from rollout.compile.review_text import render as render_text
from rollout.compile.sides import Side, compare_sides


def desk(**changes: Any) -> Environment:
    given: dict[str, Any] = {
        "slug": "desk",
        "name": "Desk",
        "template": "workflow",
        "config": {
            "tools": [
                {"name": "get", "kind": "lookup", "fromArray": "orders", "matchField": "id"},
                {
                    "name": "refund",
                    "kind": "action",
                    "stateArray": "refunds",
                    "paramsSchema": {"id": "string"},
                },
            ],
            "fixtures": {"orders": [{"id": "O-1", "amount": 100}]},
            "initialMutableState": {"refunds": []},
        },
        "tasks": [Task("Refund O-1.", {"refunds": [{"id": "O-1"}]}, id="o-1")],
        "verifier": {"primitives": [{"name": "p", "type": "ground_truth_match"}]},
    }
    return Environment(**copy.deepcopy({**given, **changes}))


def changed(edit: Callable[[Environment], Any]) -> list[tuple[str, str, str, str]]:
    after = desk()
    edit(after)
    return [_told(change) for change in diff(desk(), after).changes]


def _told(change: Change) -> tuple[str, str, str, str]:
    return change.kind.value, change.subject, change.label, change.effect.value


def config(environment: Environment) -> dict[str, Any]:
    assert environment.config is not None
    return environment.config


def verifier(environment: Environment) -> dict[str, Any]:
    assert environment.verifier is not None
    return environment.verifier


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda e: setattr(e, "slug", "desk-2"), ("changed", "slug", "environment", "metadata only")),
        (
            lambda e: setattr(e, "description", "For ops."),
            ("added", "description", "environment", "metadata only"),
        ),
        (
            lambda e: config(e)["fixtures"]["orders"][0].update(amount=120),
            ("changed", "fixture", "orders.O-1.amount", "agent sees"),
        ),
        (
            lambda e: config(e)["initialMutableState"].update(log=[]),
            ("added", "state", "log", "agent sees"),
        ),
        (
            lambda e: config(e)["tools"][1]["paramsSchema"].update(amount="number"),
            ("added", "parameter", "refund.amount", "agent sees"),
        ),
        (
            lambda e: config(e)["tools"][1].update(paramsSchema={"id": {"type": "string", "optional": True}}),
            ("added", "parameter", "refund.id.optional", "agent sees"),
        ),
        (lambda e: config(e)["tools"].reverse(), ("changed", "tool order", "tools", "agent sees")),
        (lambda e: config(e).update(description="Hello."), ("added", "config", "description", "agent sees")),
        (
            lambda e: setattr(e.tasks[0], "input", {"today": "Monday"}),
            ("added", "input", "o-1: today", "agent sees"),
        ),
        (lambda e: setattr(e.tasks[0], "split", "test"), ("changed", "split", "o-1", "grading")),
        (
            lambda e: setattr(e.tasks[0], "hidden_ground_truth", {"refunds": [{"id": "O-1", "n": 1}]}),
            ("added", "ground truth", "o-1: refunds.O-1.n", "grading"),
        ),
        (
            lambda e: setattr(e.tasks[0], "solution", [{"tool": "get"}]),
            ("added", "solution", "o-1", "metadata only"),
        ),
        (lambda e: setattr(e.tasks[0], "id", "first"), ("changed", "task id", "first", "metadata only")),
        (
            lambda e: verifier(e).update(passThreshold=0.5),
            ("changed", "passThreshold", "verifier", "grading"),
        ),
        (lambda e: verifier(e)["primitives"][0].update(weight=0), ("changed", "weight", "p", "grading")),
        (
            lambda e: verifier(e)["primitives"][0].update({"not": True}),
            ("added", "primitive", "p: not", "grading"),
        ),
        (lambda e: setattr(e, "verifier", None), ("removed", "verifier", "verifier", "grading")),
        (
            lambda e: config(e).update({"x-owner": "ops"}),
            ("added", "x- key", "config.x-owner", "metadata only"),
        ),
    ],
)
def test_a_change_is_told_with_what_it_does(
    edit: Callable[[Environment], Any], expected: tuple[str, str, str, str]
) -> None:
    assert changed(edit) == [expected]


@pytest.mark.parametrize(
    "edit",
    [
        lambda e: verifier(e)["primitives"][0].update({"not": False, "weight": 1.0}),
        lambda e: verifier(e).update(passThreshold=1),
        lambda e: setattr(e, "description", ""),
        lambda e: setattr(e.tasks[0], "input", {}),
        lambda e: config(e)["fixtures"]["orders"][0].update(amount=100.0),
        lambda e: config(e)["tools"][1].update(paramsSchema={"id": {"type": "string"}}),
    ],
)
def test_another_way_to_say_the_same_is_no_change(edit: Callable[[Environment], Any]) -> None:
    assert changed(edit) == []


def test_another_way_that_changes_the_digest_is_noted() -> None:
    after = desk()
    config(after)["tools"][1]["paramsSchema"] = {"id": {"type": "string"}}
    difference = diff(desk(), after)
    assert difference.is_empty and difference.is_comparable
    assert difference.notes == (
        "Something is written differently and means the same, so the digests differ.",
    )


def test_without_local_parts_ids_solutions_and_extensions_are_not_compared() -> None:
    bare = desk()
    bare.tasks = [Task("Refund O-1.", {"refunds": [{"id": "O-1"}]})]
    config(bare)["x-note"] = 1
    assert not diff(desk(), bare, local=False).changes
    assert diff(desk(), bare).changes


def test_when_only_tasks_changed_the_rest_is_said_to_stay_comparable() -> None:
    after = desk()
    after.tasks.append(Task("Refund O-2.", {"refunds": []}, id="o-2"))
    assert diff(desk(), after).conclusion == (
        "Old runs do not stay comparable: 1 change that the agent sees. "
        "1 task is as before, and can still be compared task by task."
    )


JUDGED = {"primitives": [{"name": "p", "type": "python", "function": "grade.py:grade"}]}


def test_where_code_that_judges_cannot_be_seen_nobody_knows_whether_runs_stay_comparable(
    tmp_path: Path,
) -> None:
    (tmp_path / "grade.py").write_text("def grade(case):\n    return True\n", encoding="utf-8")
    judged, here = desk(verifier=JUDGED), desk(verifier=JUDGED, folder=tmp_path)
    for difference in (diff(judged, judged), diff(here, judged), diff(here, here, local=False)):
        assert not difference.is_comparable
        assert difference.conclusion.endswith(
            "The code of “grade.py:grade” is not: whether old runs stay comparable is unknown."
        )
    more_tasks = replace(judged, tasks=[*judged.tasks, Task("Refund O-2.", {"refunds": []}, id="o-2")])
    assert "can still be compared" not in diff(judged, more_tasks).conclusion
    renamed = diff(here, desk(verifier=JUDGED, name="Front desk"))
    assert "| not known |" in render_markdown([Entry("desk", renamed)])
    assert diff(here, here).is_comparable


def test_neighbours_that_judge_nothing_are_no_difference(tmp_path: Path) -> None:
    code = "from prices import OF\n\n\ndef grade(case):\n    return True\n"
    sides = []
    for side in ("before", "after"):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "grade.py").write_text(code, encoding="utf-8")
        (folder / "prices.py").write_text("OF = {}\n", encoding="utf-8")
        (folder / "desks.py").write_text(f"from rollout import Environment  # {side}\n", encoding="utf-8")
        (folder / "README.md").write_text(side, encoding="utf-8")
        sides.append(desk(verifier=JUDGED, folder=folder))
    assert diff(*sides).is_empty
    (tmp_path / "after" / "prices.py").write_text("OF = {'a': 1}\n", encoding="utf-8")
    assert [_told(change) for change in diff(*sides).changes] == [
        ("changed", "judging file", "prices.py", "grading")
    ]


def test_a_file_that_code_may_read_by_a_name_it_works_out_leaves_it_open(tmp_path: Path) -> None:
    sides = []
    for side in ("before", "after"):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "grade.py").write_text(COMPUTED, encoding="utf-8")
        (folder / "gold.json").write_text(f'"{side}"', encoding="utf-8")
        sides.append(desk(verifier=JUDGED, folder=folder))
    difference = diff(*sides)
    assert [_told(change) for change in difference.changes] == [
        ("changed", "file beside", "gold.json", "perhaps grading")
    ]
    assert not difference.is_comparable and not difference.has_effect
    assert "unknown" in difference.conclusion
    sides[1].name = "Front desk"
    assert "unknown" in diff(*sides).conclusion


def judged_by(code: str, home: Path) -> list[Environment]:
    """An environment in a folder, and the same with another comment in the file that it is read from."""
    sides = []
    for limit in ("5", "9"):
        folder = home / limit
        folder.mkdir(parents=True)
        (folder / "grade.py").write_text(f"def grade(case):\n    {code}\n", encoding="utf-8")
        (folder / "environment.yaml").write_text(f"# limit: {limit}\nslug: desk\n", encoding="utf-8")
        (folder / "README.md").write_text(limit, encoding="utf-8")
        sides.append(desk(verifier=JUDGED, folder=folder))
    return sides


def test_the_environments_own_file_judges_where_the_code_speaks_of_it(tmp_path: Path) -> None:
    sides = judged_by("return '5' in open('environment.yaml').read()", tmp_path)
    assert [_told(change) for change in diff(*sides).changes] == [
        ("changed", "judging file", "environment.yaml", "grading")
    ]


@pytest.mark.parametrize(
    "code",
    [
        "return '5' in open('environment' + '.yaml').read()",
        "from pathlib import Path; return any(map(Path.read_text, Path().iterdir()))",
        "import os; return os.listdir()",
        "import json; return json.codecs.open(case['file']).read()",
        "from json import codecs as text; return text",
        "return grade.__globals__",
        "return eval(case['code'])",
        "return [",
    ],
)
def test_the_environments_own_file_may_judge_where_code_may_read_it(code: str, tmp_path: Path) -> None:
    difference = diff(*judged_by(code, tmp_path))
    assert [_told(change) for change in difference.changes] == [
        ("changed", "file beside", "environment.yaml", "perhaps grading")
    ]
    assert not difference.is_comparable


@pytest.mark.parametrize(
    "code",
    [
        "return True",
        "import json, re; return re.compile('a').search(json.dumps(case)) is not None",
        "from amounts import most; return case['final_output'] == most",
    ],
)
def test_code_that_reads_no_file_judges_as_before_whatever_the_environment_is_read_from(
    code: str, tmp_path: Path
) -> None:
    sides = judged_by(code, tmp_path)
    for side in sides:
        assert side.folder is not None
        (side.folder / "amounts.py").write_text("import math\nmost = math.floor(5.5)\n", encoding="utf-8")
    assert diff(*sides).is_empty and diff(*sides).is_comparable


COMPUTED = "def grade(case):\n    return open('gold' + '.json').read()\n"


def test_code_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "grade.py")
    judged = desk(verifier=JUDGED, folder=tmp_path)
    assert not diff(judged, judged).is_comparable


def test_an_environment_that_came_or_went_is_not_comparable() -> None:
    assert not appeared(desk()).is_comparable
    assert not disappeared(desk()).is_comparable
    assert "new" in appeared(desk()).conclusion
    assert "gone" in disappeared(desk()).conclusion


@settings(max_examples=60, deadline=None)
@given(environments(), environments())
def test_different_bytes_always_have_a_change_or_a_note(before: Environment, after: Environment) -> None:
    difference = diff(before, after)
    if compile_environment(before).data != compile_environment(after).data:
        assert difference.changes or difference.notes
    assert diff(before, before).is_empty


@settings(max_examples=60, deadline=None)
@given(environments(), environments())
def test_what_means_the_same_is_what_has_no_change_that_is_felt(
    before: Environment, after: Environment
) -> None:
    difference = diff(before, after)
    assert not difference.unexplained
    assert difference.has_effect != mean_the_same(compile_environment(before), compile_environment(after))


def test_a_change_that_no_comparison_finds_is_never_called_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.compile.diff.config_changes", lambda *_: ())
    after = desk(name="Front desk")
    config(after)["fixtures"]["orders"][0]["amount"] = 120
    difference = diff(desk(), after)
    assert not difference.is_comparable and not difference.is_empty
    assert "nothing that this comparison can name" in difference.conclusion
    after.name = "Desk"
    unnamed = Entry("desk", diff(desk(), after))
    assert "**not comparable**" in render_markdown([unnamed])
    assert describe([unnamed])["comparable"] is False and describe([unnamed])["differences"] == 1
    assert "same" not in render_text([unnamed])


def doubled(key: str, edit: Callable[[list[dict[str, Any]]], Any]) -> list[tuple[str, str, str, str]]:
    """What is told of an edit to an environment whose tools and primitives are all there twice."""
    sides = [desk(), desk()]
    for each in sides:
        config(each)["tools"] += copy.deepcopy(config(each)["tools"])
        verifier(each)["primitives"] += copy.deepcopy(verifier(each)["primitives"])
    after = sides[1]
    edit(config(after)["tools"] if key == "tools" else verifier(after)["primitives"])
    difference = diff(sides[0], after)
    assert not difference.is_comparable
    return [_told(change) for change in difference.changes]


@pytest.mark.parametrize(
    ("key", "edit", "expected"),
    [
        ("tools", lambda tools: tools.pop(), ("removed", "tool", "refund (2)", "agent sees")),
        (
            "tools",
            lambda tools: tools[0].update(fromArray="no"),
            ("changed", "tool", "get.fromArray", "agent sees"),
        ),
        (
            "tools",
            lambda tools: tools[2].update(fromArray="no"),
            ("changed", "tool", "get (2).fromArray", "agent sees"),
        ),
        ("primitives", lambda them: them.pop(), ("removed", "primitive", "p (2)", "grading")),
        ("primitives", lambda them: them.append(them[0]), ("added", "primitive", "p (3)", "grading")),
        (
            "primitives",
            lambda them: them[0].update(weight=90),
            ("changed", "weight", "p", "grading"),
        ),
    ],
)
def test_twins_of_one_name_are_compared_one_by_one(
    key: str, edit: Callable[[list[dict[str, Any]]], Any], expected: tuple[str, str, str, str]
) -> None:
    assert doubled(key, edit) == [expected]


def test_a_tool_that_takes_other_arguments_too_is_another() -> None:
    after = desk()
    config(after)["tools"][1]["paramsSchema"] = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    }
    assert [_told(change) for change in diff(desk(), after).changes] == [
        ("added", "parameter", "refund.(additionalProperties)", "agent sees")
    ]


PASSING = str.maketrans("․꞉∕ꞌкɡɑⅠⅼոμ❘ᖯ", ".:/'kgaIlnµ|b")


def look(text: str) -> str:
    """What is seen of a text, by a reader to whom every letter that passes for another is that other."""
    seen = "".join(
        each
        for each in unicodedata.normalize("NFC", text)
        if unicodedata.category(each) != "Cf" and each not in "\u034f\u3164\ufe0f\u2800"
    )
    return " ".join(seen.translate(PASSING).split())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(
            (text, text.translate({ord(text[at]): glyph}))
            for text, at, glyph in (
                ("1.50", 1, "․"),
                ("10:30", 2, "꞉"),
                ("a/b", 1, "∕"),
                ("don't", 3, "ꞌ"),
                ("pick", 3, "к"),
                ("k", 0, "к"),
                ("go", 0, "ɡ"),
                ("a", 0, "ɑ"),
                ("I agree", 0, "Ⅰ"),
                ("l", 0, "ⅼ"),
                ("10 n", 3, "ո"),
                ("5 µm", 2, "μ"),
                ("a|b", 1, "❘"),
                ("éab", 2, "ᖯ"),
            )
        ),
        ("a", "a\u2800"),
        ("a b", "a\u00a0b"),
        ("ab", "a\u200bb"),
        ("ab", "a\u2060b"),
        ("ab", "a\u00adb"),
        ("ab", "a\ufe0fb"),
        ("a\u200db", "ab"),
        ("\u00e9", "e\u0301"),
        ("\u212b", "\u00c5"),
        ("a\u3164", "a"),
        ("a\U000e0041", "a"),
        ("a", "a "),
        ("a b", "a\tb"),
        ("a\u2003b", "a b"),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "one\n{}\nthree", "{}" + " and so on" * 20])
def test_two_texts_that_differ_never_look_the_same(before: str, after: str, frame: str) -> None:
    sides = [desk(tasks=[Task(frame.format(text), {}, id="o-1")]) for text in (before, after)]
    (change,) = diff(*sides).changes
    if is_line_change(change):
        lines = [line for line in line_changes(change) if line[0] in "-+"]
        shown = [line[1:] for line in lines]
    else:
        shown = in_words(change, 200).split(" → ")
    assert len(shown) == 2 and len(set(map(look, shown))) == 2


@pytest.mark.parametrize("glyph", PASSING.keys() - {ord("μ")})
def test_what_came_is_told_from_what_went_and_looks_the_same(glyph: int) -> None:
    plain = f"x{chr(PASSING[glyph])}1"
    sides = [
        desk(tasks=[Task("Refund it.", {"refunds": [{"id": text}]}, id="o-1")])
        for text in (plain, plain.translate({PASSING[glyph]: chr(glyph)}))
    ]
    (_, (went, came)), *_ = told(diff(*sides), longest=200)
    assert look(went.label) != look(came.label) and look(went.words) != look(came.words)


def test_words_of_another_script_stay_readable_where_they_change() -> None:
    before, after = (desk(tasks=[Task(text, {}, id="o-1")]) for text in ("退款给客户", "付款给客户"))
    assert in_words(diff(before, after).changes[0], 200) == '"退<U+9000>款给客户" → "付<U+4ED8>款给客户"'


LONG = "".join(f"Please look at order O-{n} and think about it. " for n in range(12))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{0}Pay 10.", "{0}Pay 99."),
        ("Pay 10. {0}", "Pay 99. {0}"),
        ("{0}Pay 10. {1}", "{0}Pay 99. {1}"),
        ("{0}Pay 10. {1}Ask.", "Hello. {0}Pay 99. {1}"),
        ("First.\n{0}Pay 10.", "{0}Pay 99.\nNow first.\nThen second."),
        ("{0}Pay 10.\n{1}Pay 11.\nOne.", "{0}Pay 99.\n{1}Pay 98."),
    ],
)
def test_a_long_line_is_shown_around_what_changed_in_it(before: str, after: str) -> None:
    longer = LONG, LONG.replace("order", "device")
    sides = [desk(tasks=[Task(text.format(*longer), {}, id="o-1")]) for text in (before, after)]
    (change,) = diff(*sides).changes
    shown = list(line_changes(change, 400))
    assert max(map(len, shown)) <= 400 and any("…" in line for line in shown)
    for sign, paid in (("-", "10"), ("+", "99")):
        assert [line for line in shown if line[0] == sign and f"Pay {paid}." in line]


def test_rows_that_begin_alike_are_cut_where_they_part() -> None:
    def texts(end: str) -> dict[str, Any]:
        return {"refunds": [{"id": LONG + each + end} for each in ("x", f"y{LONG}")]}

    sides = [desk(tasks=[Task("Refund it.", texts(end), id="o-1")]) for end in ("1", "2")]
    ((_, changes),) = told(diff(*sides), longest=200, longest_label=200)
    for shown in ([each.label for each in changes], [each.words for each in changes]):
        assert len(set(shown)) == 4 and max(map(len, shown)) <= 200


def side(path: str, slug: str) -> Side:
    return Side(path, slug, path, desk(slug=slug))


def test_environments_are_paired_by_path_and_then_by_slug() -> None:
    entries = compare_sides(
        [side("envs/a", "a"), side("envs/b", "b"), side("envs/gone", "gone")],
        [side("envs/a", "renamed"), side("moved/b", "b"), side("envs/new", "new")],
    )
    told = {
        entry.label: [change.subject for change in entry.difference.changes]
        for entry in entries
        if entry.difference
    }
    assert told == {"envs/a": ["slug"], "moved/b": [], "envs/gone": [], "envs/new": []}
    assert [entry.label for entry in entries if entry.differs] == ["envs/a", "envs/gone", "envs/new"]


def test_one_environment_on_each_side_is_a_pair_whatever_they_are_called() -> None:
    (entry,) = compare_sides([side("x", "x")], [side("y", "y")])
    assert entry.difference is not None and [change.subject for change in entry.difference.changes] == [
        "slug"
    ]


def test_a_side_that_cannot_be_read_is_not_comparable() -> None:
    (entry,) = compare_sides([side("x", "x")], [Side("x", "x", "x", None, "It has 2 errors.")])
    assert entry.differs and not entry.is_comparable
    assert "It has 2 errors." in render_text([entry])
    assert "It has 2 errors." in render_markdown([entry])


HOSTILE = (
    "@everyone </code></details> <script>x</script> ``` `a` |b| [l](http://e.test) \u202e \x1b[2J\r\n"
    "```\n# H\n- x"
)


def hostile_entries() -> list[Entry]:
    unseen = desk(verifier={"primitives": [{"name": "p", "type": "python", "function": f"{HOSTILE}.py:f"}]})
    after = desk(name=HOSTILE, description=HOSTILE)
    config(after)["fixtures"][HOSTILE] = {HOSTILE: HOSTILE}
    config(after)["tools"][0]["name"] = HOSTILE
    after.tasks = [Task(HOSTILE, {HOSTILE: HOSTILE}, id=HOSTILE)]
    verifier(after)["primitives"].append({"name": HOSTILE, "type": "python", "function": f"{HOSTILE}.py:f"})
    return [
        Entry(HOSTILE, diff(desk(), after)),
        Entry(HOSTILE, None, HOSTILE),
        Entry(HOSTILE, diff(unseen, replace(unseen, slug=HOSTILE, name=HOSTILE))),
    ]


def prose(markdown: str) -> str:
    """What of a Markdown text is neither in a fence nor in a code span."""
    left, fence = [], ""
    for line in markdown.split("\n"):
        opening = re.match(r"(`{3,})", line)
        if fence:
            fence = "" if line == fence else fence
        elif opening:
            fence = opening[1]
        else:
            left.append(line)
    assert not fence
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "CODE", "\n".join(left))


def test_nothing_that_an_environment_says_is_alive_in_markdown() -> None:
    text = render_markdown(hostile_entries())
    # In a summary, which is HTML, the label is escaped and in a code element.
    rest = re.sub(r"<code>[^<]*</code>", "LABEL", prose(text))
    assert "@" not in rest and "<script" not in rest and "http" not in rest
    assert re.findall(r"<[^>]*>", rest) == ["<details>", "<summary>", "</summary>", "</details>"] * 3
    assert "\u202e" not in text and "\x1b" not in text and "\r" not in text


def test_nothing_that_an_environment_says_moves_the_cursor() -> None:
    text = render_text(hostile_entries())
    assert "\x1b" not in text and "\u202e" not in text and "\r" not in text
    assert "\n# H" not in text


def test_of_many_functions_that_cannot_be_seen_the_first_are_named() -> None:
    primitives = [{"name": f"p{n}", "type": "python", "function": f"{n}.py:f"} for n in range(9)]
    judged = desk(verifier={"primitives": primitives})
    assert "“4.py:f” and 4 more is not: " in diff(judged, judged).conclusion


def test_colour_is_only_there_when_it_is_asked_for() -> None:
    entries = [Entry("desk", diff(desk(), desk(verifier=None)))]
    assert "\x1b[31m-\x1b[0m verifier" in render_text(entries, color=True)
    assert "\x1b" not in render_text(entries)


@pytest.mark.parametrize("environments_changed", [1, 30, 150])
def test_markdown_keeps_to_its_bound_and_says_what_it_leaves_out(environments_changed: int) -> None:
    after = desk()
    config(after)["fixtures"]["orders"] = [{"id": f"O-{number}", "text": "x" * 90} for number in range(900)]
    entries = [Entry(f"environments/{number}", diff(desk(), after)) for number in range(environments_changed)]
    text = render_markdown(entries)
    assert len(text) <= LIMIT
    assert re.search(r"… [0-9,]+ more changes are not shown here", text)
    shown = len(re.findall(r"^- ", text, re.MULTILINE))
    left_out = int(re.search(r"… ([0-9,]+) more changes", text)[1].replace(",", ""))  # type: ignore[index]
    assert shown + left_out == sum(len(entry.difference.changes) for entry in entries if entry.difference)
    assert text.count("<details>") == text.count("</details>")


def test_a_long_text_is_cut_in_markdown_and_says_so() -> None:
    before, after = (
        desk(config={"tools": [], "fixtures": {"t": "\n".join(f"{mark}{n}" for n in range(500))}})
        for mark in "ab"
    )
    text = render_markdown([Entry("desk", diff(before, after))])
    assert re.search(r"… \d+ more lines", text)


def test_no_difference_is_one_sentence() -> None:
    same = Entry("desk", diff(desk(), desk()))
    assert render_markdown([same]).startswith("**No difference.**")
    assert render_markdown([same, same]).startswith("**No difference.** All 2 environments")


def test_many_like_changes_of_metadata_are_folded() -> None:
    def tasks(prefix: str) -> list[Task]:
        return [Task(f"Task {number}.", {"n": number}, id=f"{prefix}{number}") for number in range(20)]

    text = render_text([Entry("desk", diff(desk(tasks=tasks("a")), desk(tasks=tasks("b"))))])
    assert "20 times: b0, b1, b2, …" in text


def test_effects_come_in_the_order_of_their_weight() -> None:
    after = desk(name="New", verifier=None)
    config(after)["fixtures"]["more"] = 1
    order = list(Effect)
    effects = [order.index(change.effect) for change in diff(desk(), after).changes]
    assert effects == sorted(effects) == [0, 1, 3]


def test_how_a_database_is_run_here_is_compared_though_it_is_never_pushed() -> None:
    before = Environment("db", "Db", "sql", schema="CREATE TABLE t (a);", now="2025-03-05")
    after = Environment("db", "Db", "sql", schema="CREATE TABLE t (a);", dialect="postgres", read_only=False)
    told = [
        (change.subject, change.before, change.after, change.effect) for change in diff(before, after).changes
    ]
    assert told == [
        ("dialect", None, "postgres", Effect.AGENT),
        ("now", "2025-03-05", None, Effect.AGENT),
        ("readOnly", True, False, Effect.AGENT),
    ]
    assert compile_environment(before).data == compile_environment(after).data


def test_settings_of_a_database_that_a_compiled_file_lacks_leave_it_open() -> None:
    compiled = Environment("db", "Db", "sql", schema="CREATE TABLE t (a);")
    assert diff(compiled, compiled, local=False).is_comparable
    writable = diff(replace(compiled, read_only=False), compiled, local=False)
    assert writable.changes == () and not writable.is_comparable
    assert writable.conclusion == (
        "No difference in what is compared. The setting “readOnly” of the database is not: "
        "whether old runs stay comparable is unknown."
    )
    dated = diff(compiled, replace(compiled, dialect="postgres", now="2025-03-05"), local=False)
    assert "The settings “dialect”, “now” of the database are not" in dated.conclusion


def made_up(kind: str, seed: str) -> str:
    """A text of the shape of a key, which is nobody's; put together here, so that no scanner finds it."""
    letters = sha256(seed.encode()).hexdigest()
    mixed = "".join(each.upper() if place % 3 else each for place, each in enumerate(letters))
    return {
        "anthropic": "sk-" + f"ant-api03-{mixed[:40]}",
        "url": "postgres://" + f"ops:{letters[:16]}@db.north.example/desk",
        "private": "-----BEGIN " + f"PRIVATE KEY-----\n{mixed}\n{mixed[::-1]}\n-----END PRIVATE KEY-----",
    }[kind]


@pytest.mark.parametrize("kind", ["anthropic", "url", "private"])
def test_a_review_shows_no_secret_of_either_side(kind: str, tmp_path: Path) -> None:
    old, new = made_up(kind, "old"), made_up(kind, "new")
    bodies = [
        part
        for secret in (old, new)
        for part in re.findall("[A-Za-z0-9]{12,}", secret.partition("03-")[2] or secret)
    ]
    sides = []
    for name, key in (("before", old), ("after", new)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "grade.py").write_text(f"KEY = {key!r}\n\ndef grade(case): pass\n", encoding="utf-8")
        environment = desk(
            verifier={
                "primitives": [
                    *JUDGED["primitives"],
                    {"name": "m", "type": "python", "function": f"{key}/m.py:f"},
                ]
            },
            folder=folder,
            description=f"With {key}",
            name=f"Desk {key}",
        )
        config(environment)["tools"].append(
            {"name": f"t{name}", "kind": "mock", "response": {"key": key, key: 1}}
        )
        config(environment)["fixtures"]["orders"][0]["note"] = key
        environment.tasks = [
            Task(
                f"Log in with {key} and refund it.",
                {"a": key},
                id=None,
                split="dev" if name == "before" else "test",
            ),
            Task(f"{'Long words before it, ' * 2}{key}", {"b": 1 if name == "before" else 2}),
            Task("Key.", {"c": 1}, id="k", solution=[{"answer": key}], input={"key": key}),
        ]
        sides.append(environment)
    difference = diff(*sides)
    assert len(difference.changes) > 8
    entries = [
        Entry("desk", difference),
        Entry("new", appeared(sides[1])),
        Entry("gone", disappeared(sides[0])),
    ]
    for shown in (render_text(entries), render_markdown(entries), json.dumps(describe(entries))):
        assert [body[:10] for body in bodies if body[:10] in shown] == []
    assert "(another)" in render_text(entries)
