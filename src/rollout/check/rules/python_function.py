"""A `python` primitive whose function is not there.

`function` is `FILE.py:NAME`: a file inside the environment's folder, and a function at the top level of it.

Before:

    - {name: graded, type: python, function: grader.py:grade}

After (when the file is called grade.py):

    - {name: graded, type: python, function: grade.py:grade}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from rollout.check.finding import Finding
from rollout.check.subject import Item, Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity, Span
from rollout.source.file import decode, read_regular
from rollout.source.listing import join_label
from rollout.source.place import Route

CODE = "RL520"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for primitive in subject.primitives:
        if primitive.value.get("type") == "python" and subject.is_sound(*primitive.route):
            yield from _judge(subject, primitive)


def _judge(subject: Subject, primitive: Item) -> Iterator[Finding]:
    import ast

    written = primitive.text("function") or ""
    file, _, name = written.partition(":")
    route = (*primitive.route, "function")
    root = subject.document.root.resolve()
    path = (root / file).resolve()
    if not path.is_relative_to(root):
        yield Finding(
            route, f"{quoted(file)} is outside the environment's folder.", "Move the file into the folder."
        )
        return
    try:
        data = read_regular(path)
        tree = ast.parse(data)
        compile(tree, file, "exec", dont_inherit=True)
    except FileNotFoundError:
        beside = sorted(each.name for each in root.glob("*.py"))
        yield Finding(
            route,
            f"There is no file {quoted(file)} in the environment's folder.",
            did_you_mean(file, beside, kind="Python files") or "Add it, with the function in it.",
        )
        return
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError) and (span := _place(subject, route, file, data, error)) is not None:
            yield Finding(
                route,
                f"This is no Python: {error.msg}.",
                "Mend it there or shortly before; a “python” primitive runs this file.",
                span=span,
            )
            return
        yield Finding(route, f"{quoted(file)} cannot be read as Python: {error}.", "Mend the file.")
        return
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if name not in functions:
        yield Finding(
            route,
            f"There is no function {quoted(name)} in {quoted(file)}.",
            did_you_mean(name, functions, kind="functions") or "Define it at the top level of the file.",
        )


def _place(subject: Subject, route: Route, file: str, data: bytes, error: SyntaxError) -> Span | None:
    """Where in a file Python stopped to understand it; None where it does not say, or the file is no UTF-8."""
    home = PurePosixPath(subject.document.span(route).path).parent.as_posix()
    label = join_label(home, file)
    text = decode(data, label, [])
    if text is None or error.lineno is None:
        return None
    lines = text.split("\n")
    line = lines[error.lineno - 1].removesuffix("\r") if 0 < error.lineno <= len(lines) else ""
    start = min(max(error.offset or 1, 1), len(line) + 1)
    ends_here = error.end_lineno == error.lineno and error.end_offset is not None
    end = max(error.end_offset or 0, start) if ends_here else start
    return Span(label, error.lineno, start, error.lineno, end, line)
