"""Checks a document: what reading it noticed, then its shape, then the rules; all in one run, none an echo."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rollout.check.allowance import allowances, silence
from rollout.check.doubled import Doubled
from rollout.check.finding import Finding
from rollout.check.grading import is_foreign
from rollout.check.headers import is_list_told_of
from rollout.check.report import Report
from rollout.check.rulebook import Rule, looking_rules, rule
from rollout.check.schema import ShapeFault, shape_findings, task_shape, task_validator, tasks_validator
from rollout.check.stand_ins import StandIns
from rollout.check.subject import Subject
from rollout.diagnostics import Diagnostic, Related, Span
from rollout.source.document import Document, TaskRecord
from rollout.source.place import Problem, Route
from rollout.source.snapshot import settled

if TYPE_CHECKING:
    from rollout.check.rulebook import JudgeTask

KEPT_PER_RULE = 1_000
"""Findings of one rule that are kept; a million broken lines need not be a million sentences."""


def check(
    document: Document, *, select: Collection[str] | None = None, ignore: Collection[str] = frozenset()
) -> Report:
    """Checks ``document`` and returns every finding in reading order.

    ``select`` are the slugs of the rules to report (None: all), ``ignore`` those to leave out. Errors that keep
    the document from being read are reported whatever is selected. Where the files of its tasks changed since it was
    read, it is read anew, and the report is of that; raises ChangedError when they change all the time.
    """
    return settled(document, lambda document: _Check(document, select, ignore).run())


def check_all(
    documents: Iterable[Document],
    *,
    select: Collection[str] | None = None,
    ignore: Collection[str] = frozenset(),
) -> Iterator[Report]:
    """Checks several documents, each as :func:`check` does; no two of them may have the same slug."""
    first: dict[str, Document] = {}
    for document in documents:
        same = first.setdefault(document.slug, document)
        if same is not document:
            document = replace(
                document, problems=(*document.problems, _same_slug(document, same)), again=None
            )
        yield check(document, select=select, ignore=ignore)


def _same_slug(document: Document, first: Document) -> Problem:
    is_written = "slug" in document.value
    route: Route = ("slug",) if is_written else ()
    facts = {"slug": document.slug, "first": first.label, "is_written": is_written}
    there = first.span(("slug",) if "slug" in first.value else ())
    return Problem("duplicate-slug", document.span(route), facts | {"see": ((there, "the other one"),)})


@dataclass(frozen=True, slots=True)
class _Judge:
    """A rule that was prepared for one environment, to be asked about each of its tasks."""

    rule: Rule
    ask: JudgeTask


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
        self.broken_tasks = 0
        self.stand_ins = StandIns(())
        self.doubled = Doubled(document, ())

    def run(self) -> Report:
        document = self.document
        subject = Subject(document)
        problems = list(document.problems)
        self.stand_ins = StandIns(problems)
        self.doubled = Doubled(document, problems)
        allowed = allowances(document, problems)
        foreign = {each.route for each in subject.primitives if is_foreign(subject, each)}
        for fault in shape_findings(subject):
            # A primitive of another template is told of as a whole.
            self._add_fault(fault, is_echo=fault.route[:3] in foreign)
        # What was meant to be filled in makes every conclusion about the tool an echo.
        meant = {found.route for found in subject.foreign_placeholders}
        meant |= {found.route for found in subject.calculations}
        unread = set(self.stand_ins.routes(document.place))
        doubled = set(self.doubled.routes())
        subject.note_faults(self.broken | self.missing_in | meant | unread | doubled)
        for known in looking_rules():
            if known.check is not None and self._wanted(known):
                self._run_rule(known, document, subject)
        self._check_tasks(subject, problems)
        # Last come those that may follow from others.
        for problem in sorted(problems, key=lambda problem: problem.slug == "duplicate-key"):
            if not is_list_told_of(problem, self.found):
                self._add_problem(problem)
        left: list[Problem] = []
        kept = list(silence(self.found, allowed, left))
        self.found = kept
        if self.select is None:
            for problem in left:
                if problem.facts["slug"] not in self.ignore:
                    self._add_problem(problem)
        self.found = without_echoes(self.found)
        self.found.sort(key=lambda diagnostic: diagnostic.sort_key)
        omitted = {slug: seen - KEPT_PER_RULE for slug, seen in self.count.items() if seen > KEPT_PER_RULE}
        if self.broken_tasks > KEPT_PER_RULE:
            omitted["tasks of the wrong shape"] = self.broken_tasks - KEPT_PER_RULE
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
        # Tasks hold no cycles, and a million of them would be gone over again and again.
        collects = gc.isenabled()
        gc.disable()
        try:
            self._judge_tasks(self._prepared(subject), problems)
        finally:
            if collects:
                gc.enable()

    def _judge_tasks(self, judges: list[_Judge], problems: list[Problem]) -> None:
        are_sound, is_sound = tasks_validator(), task_validator()
        for block in self.document.tasks.blocks(problems):
            self.tasks += len(block.records)
            asked = judges
            if block.data is not None:
                asked = [each for each in judges if each.rule.screen is None or each.rule.screen(block.data)]
            if are_sound([record.value for record in block.records]):
                self._judge_sound(block.records, asked)
                continue
            for record in block.records:
                if is_sound(record.value):
                    self._judge_sound([record], asked)
                else:
                    self._judge_broken(record, asked)

    def _judge_sound(self, records: list[TaskRecord], judges: list[_Judge]) -> None:
        for each in judges:
            # Nearly every answer is None; the two builtins pass those by without a turn of a Python loop.
            for found in filter(None, map(each.ask, records)):
                for finding in found:
                    self._add_finding(each.rule, finding)

    def _judge_broken(self, record: TaskRecord, judges: list[_Judge]) -> None:
        if self.broken_tasks < KEPT_PER_RULE:
            for fault in task_shape(record.value):
                self._add_fault(fault, ("tasks", record.index))
        self.broken_tasks += 1
        for each in judges:
            self._collect(each.rule, lambda each=each: each.ask(record) or ())  # type: ignore[misc]

    def _prepared(self, subject: Subject) -> list[_Judge]:
        judges = []
        for known in looking_rules():
            if known.check_tasks is None or not self._wanted(known):
                continue
            watched = subject.watched() if subject.parts_unread else subject
            ask = None
            try:
                ask = known.check_tasks(watched)
            except (TypeError, AttributeError, KeyError, IndexError, ValueError):
                if not self.broken and not self.missing_in:
                    raise
            if ask is not None and not watched.has_looked_at_unread:
                judges.append(_Judge(known, ask))
        return judges

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

    def _add_fault(self, fault: ShapeFault, under: Route = (), *, is_echo: bool = False) -> None:
        route = (*under, *fault.route)
        if fault.slug in ("missing-key", "unknown-key"):
            self.missing_in.add(route)
            if (meant := fault.facts.get("suggestion")) is not None:
                # What stands under the misspelt key is missing under the right one.
                self.missing_in.add((*route[:-1], meant))
        else:
            self.broken.add(route)
            # Each of several keys that exclude each other may be the one too many.
            if fault.slug == "conflicting-keys":
                self.broken.update((*route[:-1], key) for key in fault.facts["keys"])
            for home in fault.facts.get("targets", ()) if fault.slug == "misplaced-key" else ():
                # It is missing where it belongs; without the template nothing is known of the rest.
                key = fault.facts["key"]
                self.missing_in.add((*under, *home) if key == "template" else (*under, *home, key))
        if is_echo or self.doubled.holds(route):
            return
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
        document = self.document
        if len(finding.route) > 1 and self.stand_ins and self.stand_ins.are_in(document.span(finding.route)):
            return
        if self.doubled.holds(finding.route):
            return
        if not self._room_for(known.slug):
            return
        related = tuple(
            Related(place if isinstance(place, Span) else document.span(place), words)
            for place, words in finding.see
        )
        span = finding.span or document.span(finding.route, finding.at)
        self.found.append(
            Diagnostic(known.code, known.slug, known.severity, finding.message, span, finding.hint, related)
        )


def without_echoes(found: list[Diagnostic]) -> list[Diagnostic]:
    """``found`` without what is only said because of another finding at the same place.

    What could not be read stands in the value as a number of 0 or as nothing, and no rule can judge that; and a
    surprise of YAML at a value of the wrong type, such as ``yes`` where true is wanted, is the same defect.
    """
    unread = {each.span for each in found if each.code.startswith("RL1") and each.severity == "error"}
    wrong = {each.span for each in found if each.code.startswith("RL2")}
    return [
        each
        for each in found
        if (each.code.startswith("RL1") or each.span not in unread)
        and (each.slug != "yaml-surprise" or each.span not in wrong)
    ]


__all__ = ["Report", "check", "check_all"]
