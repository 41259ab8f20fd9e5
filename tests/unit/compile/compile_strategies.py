"""Environments of every template with arbitrary data inside, for property tests."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from rollout import Environment, Task

TRICKY = (
    "no",
    "yes",
    "on",
    "null",
    "~",
    "012",
    "12:30",
    "2024-01-01",
    "1e3",
    ".5",
    "0x1f",
    "<<",
    "=",
    "-",
    "- x",
    "a: b",
    "a #b",
    "#",
    "'",
    '"',
    "\\",
    "'''",
    '"""\n',
    "---\n...\n",
    "a\nb\n",
    "a\n\n\n",
    "\n\na",
    " a\n b",
    "\ta\nb",
    "a\n  \nb",
    "tab\tin",
    "cr\r\nlf",
    "\u2028",
    "\x85",
    "\ufeffbom",
    "\x00",
    "\x7f",
    "🙂\nsmile",
    "x" * 1_200,
    "${args.x}",
    "$${",
    "é",
    "e\u0301",
    "True",
    "0o7",
    ".inf",
    "&a",
    "*a",
    "!t",
    "%d",
    "@x",
    "`",
    "{a}",
    "[a]",
    "? a",
    "key:",
    "",
    " ",
    "x-note",
)
NAMES = (
    "orders",
    "Orders",
    "..",
    "../x",
    "/etc/passwd",
    "a/b",
    "a",
    "A/c",
    ".hidden",
    ".github/w.yml",
    ".git/config",
    "a/.Git/config",
    "node_modules/x.js",
    "__pycache__",
    "nul",
    "con.txt",
    "a\\b",
    "C:\\x",
    "a ",
    "a.",
    "x\x00y",
    "src/main.py",
    "Makefile",
    "e\u0301",
    "\u00e9",
    "a.b",
    "long" * 60,
    "d/e/f/g.txt",
    "",
)

texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text("ab \n\t'\"\\:#-{}[],&*!|>%@`\r", max_size=12),
)
names = st.one_of(st.sampled_from(NAMES), texts)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=4)


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    tool: dict[str, Any] = {"name": draw(texts), "kind": draw(st.sampled_from(["lookup", "action", "mock"]))}
    tool |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "description": texts,
                "paramsSchema": objects,
                "response": values,
                "value": values,
                "appendTo": texts,
            },
        )
    )
    return tool


pages = st.fixed_dictionaries(
    {"url": texts},
    optional={
        "title": texts,
        "html": texts,
        "elements": st.lists(
            st.fixed_dictionaries({"type": texts}, optional={"id": texts, "text": texts}), max_size=3
        ),
    },
)
configs = {
    "workflow": st.fixed_dictionaries(
        {"tools": st.lists(tools(), max_size=3)},
        optional={
            "description": texts,
            "fixtures": st.dictionaries(names, values, max_size=4),
            "initialMutableState": objects,
        },
    ),
    "custom": st.fixed_dictionaries(
        {"tools": st.lists(tools(), max_size=3)}, optional={"initialState": objects}
    ),
    "code-editing": st.fixed_dictionaries(
        {"files": st.dictionaries(names, texts, min_size=1, max_size=5)},
        optional={"commands": st.dictionaries(texts, st.one_of(texts, objects), max_size=2)},
    ),
    "browser": st.fixed_dictionaries(
        {"initialUrl": texts, "pages": st.lists(pages, max_size=4)}, optional={"initialState": objects}
    ),
}
tasks = st.builds(
    lambda instruction, truth, given, split: Task(instruction, truth, given, split),
    texts,
    objects,
    st.one_of(st.none(), objects),
    st.sampled_from(["dev", "test", "train"]),
)
verifiers = st.fixed_dictionaries(
    {
        "primitives": st.lists(
            st.builds(
                lambda name, type_, more: {"name": name, "type": type_, **more},
                texts,
                st.sampled_from(["state_match", "contains_terms", "no_tool_errors"]),
                st.fixed_dictionaries(
                    {},
                    optional={
                        "weight": st.integers(0, 5),
                        "not": st.booleans(),
                        "expected": objects,
                        "terms": st.lists(texts, max_size=3),
                        "subset": st.booleans(),
                    },
                ),
            ),
            max_size=3,
        )
    },
    optional={"passThreshold": st.sampled_from([0.5, 1, 1.0])},
)


@st.composite
def environments(draw: st.DrawFn) -> Environment:
    template = draw(st.sampled_from(["workflow", "custom", "code-editing", "browser", "sql"]))
    environment = Environment(
        slug=draw(st.sampled_from(["refund", "012", "no", "a.b-c_d"])),
        name=draw(texts.filter(bool)),
        template=template,  # type: ignore[arg-type]
        description=draw(st.one_of(st.none(), texts)),
        tasks=draw(st.lists(tasks, max_size=3)),
        verifier=draw(st.one_of(st.none(), verifiers)),
    )
    if template == "sql":
        environment.schema = draw(texts.filter(lambda text: bool(text.strip("\r\n"))))
        environment.seed = draw(st.one_of(st.none(), texts))
    else:
        # A copy through JSON: shared lists in a drawn value would let one test change another's input.
        environment.config = json.loads(json.dumps(draw(configs[template])))
    return environment
