"""Tasks are streamed from JSONL or listed inline; each knows where it stands, and a broken one is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.environment import Task
from rollout.source import json as places
from rollout.source import jsonl, yaml
from rollout.source.place import Problem
from rollout.source.tasks import InlineTasks, JsonlTasks, read_jsonl_tasks
from rollout.source.text import SourceFile


def write(path: Path, *lines: str | bytes, end: bytes = b"\n") -> JsonlTasks:
    data = end.join(line.encode() if isinstance(line, str) else line for line in lines)
    path.write_bytes(data)
    return JsonlTasks([(path, path.name)])


def read(tasks: JsonlTasks | InlineTasks) -> tuple[list[tuple[int, Any]], list[str]]:
    problems: list[Problem] = []
    records = [(record.index, record.value) for record in tasks.read(problems)]
    return records, [f"{problem.span} {problem.slug}" for problem in problems]


def test_each_line_is_a_task(tmp_path: Path) -> None:
    tasks = write(tmp_path / "t.jsonl", '{"instruction": "a"}', '{"instruction": "b"}', "")
    assert read(tasks) == ([(0, {"instruction": "a"}), (1, {"instruction": "b"})], [])


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    tasks = write(
        tmp_path / "t.jsonl",
        '{"a": "x\u2028y\u0085z\u2029"}',
        '{"a": "\x7f"}',
        end=b"\r\n",
    )
    assert read(tasks) == ([(0, {"a": "x\u2028y\u0085z\u2029"}), (1, {"a": "\x7f"})], [])


def test_blank_lines_are_skipped_and_line_numbers_stay_right(tmp_path: Path) -> None:
    tasks = write(
        tmp_path / "t.jsonl", "\ufeff", '{"a": 0}', "", " \t\r", '{"a": 1}', '{"a": 2}', "", '{"a": 3}'
    )
    records, problems = read(tasks)
    assert (records, problems) == ([(n, {"a": n}) for n in range(4)], [])
    lines = [tasks.place(index).span().line for index in range(4)]  # type: ignore[union-attr]
    assert lines == [2, 5, 6, 8]
    assert tasks.place(4) is None
    assert tasks.place(-1) is None


def test_a_bom_is_accepted_also_where_files_were_joined(tmp_path: Path) -> None:
    tasks = write(tmp_path / "t.jsonl", '\ufeff{"a": 0}', '\ufeff{"a": 1}')
    assert read(tasks) == ([(0, {"a": 0}), (1, {"a": 1})], [])
    assert str(tasks.place(0).child("a").span("key")) == "t.jsonl:1:2"  # type: ignore[union-attr]


def test_a_broken_line_is_named_left_out_and_counted(tmp_path: Path) -> None:
    tasks = write(
        tmp_path / "t.jsonl",
        '{"a": 0}',
        '{"a": 1,}',
        "[1]",
        '"x"',
        b'{"a": "caf\xe9"}',
        '{"a": 5, "a": 6}',
        '{"a": NaN}',
        '{"a": "\\ud800"}',
        '{"a": 8}',
    )
    records, problems = read(tasks)
    assert [index for index, _ in records] == [0, 5, 6, 7, 8]
    assert problems == [
        "t.jsonl:2:8 json-syntax",
        "t.jsonl:3:1 task-not-an-object",
        "t.jsonl:4:1 task-not-an-object",
        "t.jsonl:5:11 not-utf8",
        "t.jsonl:6:10 duplicate-key",
        "t.jsonl:7:7 bad-number",
        "t.jsonl:8:8 lone-surrogate",
    ]
    assert tasks.place(8).span().line == 9  # type: ignore[union-attr]
    assert tasks.place(1).span().line == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line",
    [
        '{"a": 1, "a" : 2}',
        '{"a": 1, "a"\t: 2}',
        '{"a": 1, "\\u0061": 2}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": 1, "a": "\\u0022:"}',
        '{"a": 1, "a": "\\u003a"}',
        '{"a": 1, "a": "\\"\\u003A"}',
        '{"a:": 1, "a:": ":"}',
        '{"x": ":", "a": [{"": 1, "": 1}]}',
    ],
)
def test_a_key_given_twice_is_found_however_it_is_written(tmp_path: Path, line: str) -> None:
    _, problems = read(write(tmp_path / "t.jsonl", line))
    assert [problem.split()[1] for problem in problems] == ["duplicate-key"]


def test_whole_numbers_are_exact(tmp_path: Path) -> None:
    numbers = [2**53 + 1, 2**63, 2**64 + 1, -(2**64) - 1, 10**30, 123456789012345]
    tasks = write(tmp_path / "t.jsonl", *(json.dumps({"n": number}) for number in numbers))
    records, problems = read(tasks)
    assert problems == []
    assert [value["n"] for _, value in records] == numbers


def test_depth_has_a_bound(tmp_path: Path) -> None:
    nested = [f'{{"a": {"[" * depth}{"]" * depth}}}' for depth in (99, 100, 300, 2000)]
    records, problems = read(write(tmp_path / "t.jsonl", *nested, json.dumps({"a": [[]] * 500})))
    assert [index for index, _ in records] == [0, 4]
    assert problems == [f"t.jsonl:{line}:106 too-deep" for line in (2, 3, 4)]


def test_several_files_are_one_list(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n{"n": 0}\n{"n": 1}')
    (tmp_path / "b.jsonl").write_text("")
    (tmp_path / "c.jsonl").write_text('{"n": 2}\nx\n\n{"n": 4}\n')
    tasks = JsonlTasks([(tmp_path / name, name) for name in ("a.jsonl", "b.jsonl", "c.jsonl")])
    records, problems = read(tasks)
    assert records == [(0, {"n": 0}), (1, {"n": 1}), (2, {"n": 2}), (4, {"n": 4})]
    assert problems == ["c.jsonl:2:1 json-syntax"]
    assert [str(tasks.place(n).span()) for n in range(5)] == [  # type: ignore[union-attr]
        "a.jsonl:2:1",
        "a.jsonl:3:1",
        "c.jsonl:1:1",
        "c.jsonl:2:1",
        "c.jsonl:4:1",
    ]
    assert str(tasks.home.span()) == "a.jsonl:1:1"


def test_a_place_is_found_before_and_during_the_reading(tmp_path: Path) -> None:
    tasks = write(tmp_path / "t.jsonl", *(f'{{"n": {n}}}' for n in range(50)))
    assert tasks.place(30).span().line == 31  # type: ignore[union-attr]
    for record in tasks.read([]):
        for index in (record.index, 49 - record.index):
            place = tasks.place(index)
            assert place is not None
            assert place.source.text == f'{{"n": {index}}}'
            assert place.child("n").span().line == index + 1  # type: ignore[union-attr]


def test_a_line_that_is_too_long_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 30)
    tasks = write(
        tmp_path / "t.jsonl",
        '{"n": 0}',
        '{"n": "' + "x" * 200 + '"}',
        '{"n": 2}',
        '{"n": "' + "x" * 22 + '"}',
    )
    records, problems = read(tasks)
    assert records == [(0, {"n": 0}), (2, {"n": 2})]
    assert problems == ["t.jsonl:2:1 huge-file", "t.jsonl:4:1 huge-file"]
    assert tasks.place(2).span().line == 3  # type: ignore[union-attr]


def test_an_object_over_several_lines_is_one_problem(tmp_path: Path) -> None:
    lines = json.dumps({"n": 1, "m": [{"a": 1}]}, indent=2).split("\n")
    tasks = write(tmp_path / "t.jsonl", '{"n": 0}', *lines, '{"n": 2}', '{"n": 3,}')
    records, problems = read(tasks)
    assert [value for _, value in records] == [{"n": 0}, {"n": 2}]
    assert problems == ["t.jsonl:2:1 json-syntax", f"t.jsonl:{len(lines) + 3}:8 json-syntax"]


def test_a_list_over_several_lines_is_one_problem(tmp_path: Path) -> None:
    tasks = write(tmp_path / "t.jsonl", "[", '{"n": 0},', '{"n": 1}', "]")
    assert read(tasks) == ([], ["t.jsonl:1:1 json-syntax"])


def test_reading_stops_when_line_after_line_is_broken(tmp_path: Path) -> None:
    tasks = write(tmp_path / "t.jsonl", *["x"] * 150, '{"n": 0}')
    records, problems = read(tasks)
    assert records == []
    assert len(problems) == 101
    assert problems[-1] == "t.jsonl:100:1 too-many-broken-lines"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n\xff\0",
        b"\x1f\x8b\x08\x00\x00\n\n\xff\n\xfe",
        '{"a": 1}\n{"a": 2}\n'.encode("utf-16"),
    ],
)
def test_a_file_that_is_no_text_is_one_problem(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.jsonl").write_bytes(data)
    records, problems = read(JsonlTasks([(tmp_path / "t.jsonl", "t.jsonl")]))
    assert records == []
    assert len(problems) == 1


def test_a_file_that_vanishes_or_changes_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    tasks = write(path, '{"n": 0}', '{"n": 1}', '{"n": 2}')
    assert len(read(tasks)[0]) == 3
    path.write_text('{"m"')
    assert tasks.place(0) is not None
    assert tasks.place(2) is not None
    path.unlink()
    assert tasks.place(1) is None
    assert read(tasks) == ([], ["t.jsonl:1:1 unreadable-file"])
    path.mkdir()
    assert read(tasks) == ([], ["t.jsonl:1:1 unreadable-file"])


VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FRAGMENTS = st.lists(
    st.sampled_from(
        [*'{}[]:,"\\ \t\r-.019e', '{"a":', '"a" :1,', '"b"}', "\\u0022", "\\u003a", "1" * 17, "é", "\x00"]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.text(max_size=5), VALUE, max_size=4).map(json.dumps)
        | st.dictionaries(st.text(max_size=5), VALUE, max_size=4).map(
            lambda v: json.dumps(v, ensure_ascii=False)
        )
        | FRAGMENTS.map(lambda inside: '{"a":' + inside + "}")
        | FRAGMENTS,
        max_size=6,
    )
)
def test_the_fast_way_sees_what_the_careful_way_sees(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("tasks") / "t.jsonl"
    tasks = write(path, *lines)
    seen: list[Problem] = []
    records = {record.index: record.value for record in tasks.read(seen)}
    row = -1
    for number, line in enumerate(lines, start=1):
        if not line.strip(" \t\r"):
            continue
        row += 1
        here = [problem.slug for problem in seen if problem.span.line == number]
        if "\0" in line or line.strip() == "[":
            assert here in (["binary-file"], ["not-utf8"], ["json-syntax"])
            assert row not in records
            break
        problems: list[Problem] = []
        source = SourceFile(path, "t.jsonl", line.removesuffix("\r"), first_line=number)
        parsed = places.parse(source, problems)
        expected = [problem.slug for problem in problems]
        if parsed is not None and isinstance(parsed.value, dict):
            assert repr(records[row]) == repr(parsed.value)
            assert here == expected
            place = tasks.place(row)
            assert place is not None
            assert (place.start, place.end) == (parsed.place.start, parsed.place.end)
        else:
            assert row not in records
            # Nothing more is said about the lines behind one that begins an object and does not end it.
            assert here in (expected, [*expected, "task-not-an-object"], [])
            assert here or seen


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=120))
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("tasks") / "t.jsonl"
    path.write_bytes(data)
    tasks = JsonlTasks([(path, "t.jsonl")])
    problems: list[Problem] = []
    assert all(isinstance(record.value, dict) for record in tasks.read(problems))
    assert all(problem.span.line >= 1 for problem in problems)
    for index in range(3):
        assert tasks.place(index) is None or tasks.place(index).span().line >= 1  # type: ignore[union-attr]


def inline(text: str) -> InlineTasks:
    parsed = yaml.parse(SourceFile(Path("t.yaml"), "t.yaml", text), [])
    assert parsed is not None
    return InlineTasks(parsed)


def test_inline_tasks_are_the_members_of_a_list() -> None:
    tasks = inline("- {instruction: a}\n- nonsense\n- [b]\n- {instruction: c}\n")
    assert read(tasks) == (
        [(0, {"instruction": "a"}), (3, {"instruction": "c"})],
        ["t.yaml:2:3 task-not-an-object", "t.yaml:3:3 task-not-an-object"],
    )
    assert str(tasks.place(3).child("instruction").span()) == "t.yaml:4:17"  # type: ignore[union-attr]
    assert tasks.place(4) is None
    assert str(tasks.home.span()) == "t.yaml:1:1"


def test_inline_tasks_that_are_no_list_are_a_problem() -> None:
    assert read(inline("instruction: a\n")) == ([], ["t.yaml:1:1 tasks-not-a-list"])


def test_from_jsonl_reads_tasks(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write(
        path,
        '{"instruction": "a", "hidden_ground_truth": {"x": 1}, "x-note": 1}',
        "",
        '{"instruction": "b", "split": "test"}',
    )
    assert Task.from_jsonl(path) == [Task("a", {"x": 1}), Task("b", split="test")]
    assert [task["instruction"] for task in read_jsonl_tasks(str(path))] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{'instruction': 'a'}", "3:2: Single quotes mean nothing in JSON. Use double quotes."),
        (
            '["a"]',
            "3:1: This task is a list; a task is an object. Write one object a line, without a list around them.",
        ),
        ('{"input": {}}', "3:1: The task has no instruction: the text that the agent is given."),
        ('{"instruction": 5}', "3:2: “instruction” is to be a string."),
        ('{"instruction": "a", "spilt": "dev"}', "3:22: A task has no key “spilt”. Did you mean “split”?"),
        ('{"instruction": "a", "split": "eval"}', "3:22: “split” is to be one of dev, test, train."),
        ('{"instruction": "a", "input": []}', "3:22: “input” is to be an object."),
        (
            '{"instruction": "a", "hidden_ground_truth": {"n": 1}, "hiddenGroundTruth": {"n": 2}}',
            "3:55: A task has “hidden_ground_truth” or “hiddenGroundTruth”, not both.",
        ),
    ],
)
def test_from_jsonl_names_the_place_of_a_line_that_is_no_task(
    tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "t.jsonl"
    write(path, '{"instruction": "a"}', "", line)
    with pytest.raises(ValueError) as caught:
        Task.from_jsonl(path)
    assert str(caught.value) == f"{path}:{message}"


def test_from_jsonl_of_a_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Task.from_jsonl(tmp_path / "none.jsonl")
