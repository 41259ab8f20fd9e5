"""A `${…}` on a page that can never be filled in.

What a page shows may hold `${state.…}` and `${task.input.…}`. What a form or button does (`mutates`, `accepts`,
`error`, `action`) may also hold `${args.…}`, the fields of the form around it by name. Anything else comes to
nothing when the page is shown or the form is sent. A field that is `disabled` is never sent, as in every browser.

Before:

    - type: form
      mutates: {path: user, value: "${args.mail}"}
      elements: [{type: input, name: email}]

After:

    - type: form
      mutates: {path: user, value: "${args.email}"}
      elements: [{type: input, name: email}]
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.calculations import complaint, goes_on, is_beyond, is_calculation, malformed, way_out
from rollout.check.finding import Finding
from rollout.check.site import FIELDS, Element, elements, possible_state, span_of
from rollout.check.subject import Subject
from rollout.check.wording import closest, did_you_mean, listed, quoted, suggestion
from rollout.diagnostics import Severity, Span
from rollout.language.placeholders import Interpolation, Placeholder, spots
from rollout.source.place import At, Route

CODE = "RL377"
SEVERITY = Severity.ERROR

_DOES = ("mutates", "accepts", "error", "action")
_SHOWS = (
    *(
        "text",
        "label",
        "placeholder",
        "items",
        "columns",
        "alt",
        "href",
        "value",
        "checked",
        "options",
        "rows",
    ),
)


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "browser":
        return
    state = possible_state(subject)
    for page in subject.pages:
        yield from _judge(subject, (*page.route, "title"), page.value.get("title"), None, state, None)
        placed = list(_forms_around(list(elements(page))))
        sent, disabled = _sent_names(placed), _sent_names(placed, disabled=True)
        for element, form in placed:
            span = span_of(subject, page, element)
            for key in _SHOWS:
                if key in element.value and not (
                    key == "value" and element.value.get("type") in ("radio", "checkbox")
                ):
                    value = element.value[key]
                    if key == "rows":
                        value = _only_texts(value)
                    yield from _judge(subject, (*element.route, key), value, None, state, span)
            home = None if form is None else form.route
            names = frozenset(sent.get(home, ()))
            unsent = frozenset(disabled.get(home, ())) - names
            if form is None and element.value.get("type") == "button":
                names |= {element.text("name") or ""}
            for key in _DOES:
                if key in element.value:
                    yield from _judge(
                        subject, (*element.route, key), element.value[key], names, state, span, unsent
                    )


def _judge(
    subject: Subject,
    route: Route,
    value: object,
    names: frozenset[str] | None,
    state: frozenset[str] | None,
    span: Span | None,
    unsent: frozenset[str] = frozenset(),
) -> Iterator[Finding]:
    for spot in spots(value, route):
        at: At = "key" if spot.is_key else "value"
        text = spot.interpolation.text
        for shown, message, hint in _faults(subject, spot.interpolation, names, state, unsent):
            inside = subject.inside(spot.route, text, *shown, at)
            yield Finding(spot.route, message, hint, at=at, span=span or inside)


def _faults(
    subject: Subject,
    parsed: Interpolation,
    names: frozenset[str] | None,
    state: frozenset[str] | None,
    unsent: frozenset[str],
) -> Iterator[tuple[tuple[int, int], str, str | None]]:
    """What is wrong with a text: where it starts and ends, the sentence and the way out."""
    known = (names or frozenset()) | (state or frozenset())
    for fault in parsed.faults:
        if (around := malformed(parsed.text, fault, known)) is not None:
            yield around, complaint(parsed.text[slice(*around)]), way_out(subject.template)
        else:
            yield fault.shown(parsed.text), fault.message, fault.hint
    for placeholder in parsed.placeholders:
        looks = (placeholder, *placeholder.inner)
        if any(_calculates(subject, look, names, state) for look in looks):
            yield (placeholder.start, placeholder.end), complaint(placeholder.text), way_out(subject.template)
            continue
        for look in looks:
            if (said := _fault(look, names, state, unsent)) is not None:
                yield (look.start, look.end), *said


def _calculates(
    subject: Subject, look: Placeholder, names: frozenset[str] | None, state: frozenset[str] | None
) -> bool:
    if look.root == "state":
        return state is not None and is_beyond(look, subject.initial_state, may_be_made=True)
    name = str(look.steps[0]) if look.steps else ""
    if name in (names or ()):
        return len(look.steps) + len(look.rest) > 1 and is_calculation(look.text[2:-1])
    return is_calculation(look.text[2:-1]) or goes_on(name, names or ())


def _fault(
    placeholder: Placeholder,
    names: frozenset[str] | None,
    state: frozenset[str] | None,
    unsent: frozenset[str],
) -> tuple[str, str | None] | None:
    shown = quoted(placeholder.text)
    if placeholder.root == "fixtures":
        return f"{shown} names fixtures, which a site does not have.", "Put the data into initialState."
    if placeholder.root == "vars":
        return f"{shown} names a variable, which only the tools of a custom environment have.", _OF_A_PAGE
    name = str(placeholder.steps[0]) if placeholder.steps else None
    if placeholder.root == "args":
        if names is None:
            return f"{shown} can only be used where a form is sent, not where a page is shown.", _OF_A_PAGE
        if name in unsent:
            return f"{shown} names a field that is disabled, and so is never sent.", _OF_A_FIELD
        if name is not None and name not in names:
            return f"{shown} names a field that the form does not have.", _way_out(name, names, "fields")
    if placeholder.root == "state" and name is not None and state is not None and name not in state:
        return f"{shown} names a part of the state that is never there.", _way_out(
            name, state, "parts of the state"
        )
    return None


_OF_A_PAGE = "A page shows what is in the state: let the form's “mutates” put it there, and use “${state.…}”."

_OF_A_FIELD = "Take out “disabled”, use an input of the type hidden, or write the value itself here."


def _way_out(name: str, known: frozenset[str], kind: str) -> str | None:
    if (near := closest(name, sorted(known))) is not None:
        return suggestion(near, name)
    return did_you_mean(name, sorted(known), kind=kind) or (
        f"There is {listed(sorted(known))}." if known else "Take it out, or declare it first."
    )


def _forms_around(all_elements: list[Element]) -> Iterator[tuple[Element, Element | None]]:
    """Each element with the form around it, itself where it is one; a form's elements follow it in reading order."""
    form: Element | None = None
    for element in all_elements:
        if form is not None and element.route[: len(form.route)] != form.route:
            form = None
        if form is None and element.value.get("type") == "form":
            form = element
        yield element, form


def _sent_names(
    placed: list[tuple[Element, Element | None]], *, disabled: bool = False
) -> dict[Route | None, set[str]]:
    """The names that the fields and buttons of each form send, by the form's route; None for those in no form.

    With ``disabled`` the names of those that would, were they not disabled.
    """
    names: dict[Route | None, set[str]] = {None: set()}
    for element, form in placed:
        sends = element.value.get("type") in FIELDS or (
            form is not None and element.value.get("type") == "button"
        )
        name = element.text("name")
        if sends and name is not None and (element.value.get("disabled") is True) is disabled:
            names.setdefault(None if form is None else form.route, set()).add(name)
    return names


def _only_texts(rows: object) -> object:
    if not isinstance(rows, list):
        return None
    return [
        [cell if isinstance(cell, str) else None for cell in row] if isinstance(row, list) else None
        for row in rows
    ]
