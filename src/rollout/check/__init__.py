"""Checks a document: what reading it noticed, then its shape, then the rules; all in one run, none an echo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable

from rollout.check.allowance import allowances, silence
from rollout.check.finding import Finding
from rollout.check.report import Report
from rollout.check.rulebook import Rule, rule
from rollout.check.rulebook import rules as all_rules
from rollout.check.schema import ShapeFault, shape_findings, task_shape, task_validator
from rollout.check.subject import Subject
from rollout.diagnostics import Diagnostic, Related, Span
from rollout.source.document import Document
from rollout.source.place import Problem, Route

KEPT_PER_RULE = 1_000
"""Findings of one rule that are kept; a million broken lines need not be a million sentences."""


def check(
    document: Document, *, select: Collection[str] | None = None, ignore: Collection[str] = frozenset()
) -> Report:
    """Checks ``document`` and returns every finding in reading order.

    ``select`` are the slugs of the rules to report (None: all), ``ignore`` those to leave out. Errors that keep
    the document from being read are reported whatever is selected.
    """
    return _Check(document, select, ignore).run()


class _Check:
    def __init__(self, document: Document, select: Collection[str] | None, ignore: Collection[str]) -> None:
        self.document = document
        self.select = select
        self.ignore = ignore
        self.found: list[Diagnostic] = []
        self.count: Counter[str] = Counter()
        self.broken: set[Route] = set()
        self.missing_in: set[Route] = set()
        self.tasks = 0

    def run(self) -> Report:
        document = self.document
        subject = Subject(document)
        problems = list(document.problems)
        allowed = allowances(document, problems)
        faults = shape_findings(subject)
        for fault in faults:
            self._add_fault(fault)
        subject.note_faults(self.broken | self.missing_in)
        for known in all_rules():
            if known.check is not None and self._wanted(known):
                self._run_rule(known, document, subject)
        self._check_tasks(subject, problems)
        for problem in problems:
            self._add_problem(problem)
        left: list[Problem] = []
        kept = list(silence(self.found, allowed, left))
        self.found = kept
        if self.select is None:
            for problem in left:
                self._add_problem(problem)
        self.found.sort(key=lambda diagnostic: diagnostic.sort_key)
        omitted = {slug: seen - KEPT_PER_RULE for slug, seen in self.count.items() if seen > KEPT_PER_RULE}
        return Report(document, tuple(dict.fromkeys(self.found)), self.tasks, omitted)

    def _wanted(self, known: Rule) -> bool:
        if self.select is not None and known.slug not in self.select:
            return False
        return known.slug not in self.ignore

    def _run_rule(self, known: Rule, document: Document, subject: Subject) -> None:
        assert known.check is not None
        if not subject.parts_unread:
            self._collect(known, lambda: known.check(subject) if known.check else ())
            return
        # Some file could not be read: a rule that looked at what is missing has only echoes to tell.
        watched = subject.watched()
        findings: list[Finding] = []
        self._collect(known, lambda: known.check(watched) if known.check else (), into=findings)
        if not watched.has_looked_at_unread:
            for finding in findings:
                self._add_finding(known, finding)

    def _collect(
        self, known: Rule, produce: Callable[[], Iterable[Finding]], *, into: list[Finding] | None = None
    ) -> None:
        try:
            for finding in produce():
                if into is None:
                    self._add_finding(known, finding)
                else:
                    into.append(finding)
        except (TypeError, AttributeError, KeyError, IndexError, ValueError):
            # A rule may stumble over a shape that has been reported already; on a sound shape it is our bug.
            if not self.broken and not self.missing_in:
                raise

    def _check_tasks(self, subject: Subject, problems: list[Problem]) -> None:
        judges = []
        for known in all_rules():
            if known.check_tasks is None or not self._wanted(known):
                continue
            watched = subject.watched() if subject.parts_unread else subject
            prepare = known.check_tasks
            judge = None
            try:
                judge = prepare(watched)
            except (TypeError, AttributeError, KeyError, IndexError, ValueError):
                if not self.broken and not self.missing_in:
                    raise
            if judge is not None and not watched.has_looked_at_unread:
                judges.append((known, judge))
        is_sound = task_validator()
        for record in self.document.tasks.read(problems):
            self.tasks += 1
            if is_sound(record.value):
                for known, judge in judges:
                    if found := judge(record):
                        for finding in found:
                            self._add_finding(known, finding)
                continue
            for fault in task_shape(record.value):
                self._add_fault(fault, ("tasks", record.index))
            for known, judge in judges:
                self._collect(known, lambda judge=judge, record=record: judge(record) or ())  # type: ignore[misc]

    def _room_for(self, slug: str) -> bool:
        self.count[slug] += 1
        return self.count[slug] <= KEPT_PER_RULE

    def _add_problem(self, problem: Problem) -> None:
        known = rule(problem.slug)
        severe = known.severity == "error"
        if not severe and not self._wanted(known):
            return
        if self._room_for(known.slug):
            self._append(known, problem)

    def _add_fault(self, fault: ShapeFault, under: Route = ()) -> None:
        route = (*under, *fault.route)
        if fault.slug in ("missing-key", "unknown-key"):
            self.missing_in.add(route)
        else:
            self.broken.add(route)
        known = rule(fault.slug)
        if self._wanted(known) and self._room_for(known.slug):
            self._append(known, Problem(fault.slug, self.document.span(route, fault.at), fault.facts))

    def _append(self, known: Rule, problem: Problem) -> None:
        assert known.describe is not None
        message, hint = known.describe(problem)
        related = tuple(Related(span, words) for span, words in problem.facts.get("see", ()))
        self.found.append(
            Diagnostic(known.code, known.slug, known.severity, message, problem.span, hint, related)
        )

    def _add_finding(self, known: Rule, finding: Finding) -> None:
        if self.broken and any(
            finding.route[:depth] in self.broken for depth in range(1, len(finding.route) + 1)
        ):
            return
        if not self._room_for(known.slug):
            return
        document = self.document
        related = tuple(
            Related(place if isinstance(place, Span) else document.span(place), words)
            for place, words in finding.see
        )
        span = finding.span or document.span(finding.route, finding.at)
        self.found.append(
            Diagnostic(known.code, known.slug, known.severity, finding.message, span, finding.hint, related)
        )


__all__ = ["Report", "check"]
