"""A `python` primitive whose function is not there.

`function` is `FILE.py:NAME`: a file inside the environment's folder, and a function at the top level of it.

Before:

    - {name: graded, type: python, function: grader.py:grade}

After (when the file is called grade.py):

    - {name: graded, type: python, function: grade.py:grade}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Item, Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.source.file import read_regular

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
        tree = ast.parse(read_regular(path))
    except FileNotFoundError:
        beside = sorted(each.name for each in root.glob("*.py"))
        yield Finding(
            route,
            f"There is no file {quoted(file)} in the environment's folder.",
            did_you_mean(file, beside, kind="Python files") or "Add it, with the function in it.",
        )
        return
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        yield Finding(route, f"{quoted(file)} cannot be read as Python: {error}.", "Mend the file.")
        return
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if name not in functions:
        yield Finding(
            route,
            f"There is no function {quoted(name)} in {quoted(file)}.",
            did_you_mean(name, functions, kind="functions") or "Define it at the top level of the file.",
        )
