"""For CI servers: JUnit XML, a suite per environment; an error is a failed test, a warning a passed one that speaks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rollout.diagnostics import Diagnostic, Severity
from rollout.diagnostics._visible import visible
from rollout.diagnostics._words import details, headline

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, checked: Sequence[str] = ()) -> str:
    """The ``testsuites`` document. An environment without findings is one passed test, so no suite is empty."""
    from xml.etree.ElementTree import Element, indent, tostring

    found: dict[str, list[Diagnostic]] = {label: [] for label in checked}
    for diagnostic in diagnostics:
        found.setdefault(_environment_of(diagnostic.span.path, found), []).append(diagnostic)
    suites = [_suite(label, members) for label, members in found.items()]
    root = Element("testsuites", name="rollout validate")
    for total in ("tests", "failures"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in suites)))
    root.extend(suites)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _environment_of(path: str, labels: dict[str, list[Diagnostic]]) -> str:
    """The environment that ``path`` lies in, or the path itself where none of ``labels`` leads to it."""
    parents = (parent.as_posix() for parent in (PurePath(path), *PurePath(path).parents))
    return next((parent for parent in parents if parent in labels), path)


def _suite(label: str, diagnostics: list[Diagnostic]) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    failures = sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    suite = Element(
        "testsuite",
        name=visible(label),
        tests=str(len(diagnostics) or 1),
        failures=str(failures),
        errors="0",
        skipped="0",
    )
    suite.extend(_case(diagnostic) for diagnostic in diagnostics)
    if not diagnostics:
        SubElement(suite, "testcase", classname=visible(label), name="nothing to report", time="0")
    return suite


def _case(diagnostic: Diagnostic) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    span = diagnostic.span
    case = Element(
        "testcase",
        classname=visible(span.path),
        name=f"{diagnostic.code} {diagnostic.slug} at {span.line}:{span.column}",
        file=visible(span.path),
        line=str(span.line),
        time="0",
    )
    if diagnostic.severity is Severity.ERROR:
        told = SubElement(case, "failure", type=diagnostic.code, message=visible(diagnostic.message))
    else:
        told = SubElement(case, "system-out")
    told.text = "\n".join([headline(diagnostic), *details(diagnostic)])
    return case


__all__ = ["render"]
