"""A browser on a site: the page that is open, what was typed, the way back, and what the site has noted down.

Every action works on a copy, which takes the place of the browser only when the page it leads to can be shown. So an
action that fails half way has changed nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rollout.language.interpolation import ROOM, FillError, Scope, as_text, fresh
from rollout.language.paths import put
from rollout.language.room import Room, check_growth, size_of_state
from rollout.language.site import compare_field, find_page
from rollout.templates import TemplateError
from rollout.templates._browser_fields import (
    Values,
    by_name,
    enter,
    fault_of,
    groups_of,
    sent,
    start_value,
)
from rollout.templates._browser_pages import Element, Page
from rollout.templates._browser_shown import ACTIVE, Seen, Shown, article, look


class ActionError(Exception):
    """Something that cannot be done on the page; its text is a sentence for the agent."""


@dataclass(slots=True)
class Visit:
    """One visit of a page: the values in its fields, and what a form said when it was refused.

    ``faults`` has the sentence for a field by its number, ``alert`` the form's number and its sentence. ``touched``
    tells a page where something was entered or sent from one that was only looked at.
    """

    url: str
    values: Values
    faults: dict[int, str] = field(default_factory=dict)
    alert: tuple[int, str] | None = None
    touched: bool = False

    def copy(self) -> Visit:
        """A copy that shares nothing that changes."""
        return Visit(self.url, fresh_values(self.values), dict(self.faults), self.alert, self.touched)


class Session:
    """A browser of one rollout. ``state`` is the site's; the last of ``history`` is the page that is open."""

    __slots__ = ("_cached", "_room", "_start_size", "history", "left", "note", "pages", "state", "task")

    def __init__(self, pages: Mapping[str, Page], start: str, state: dict[str, Any], task: Scope) -> None:
        self.pages = pages
        self.task = task
        self.state = state
        self.history: list[Visit] = []
        self.left: dict[str, Visit] = {}
        self.note: str | None = None
        self._cached: Shown | None = None
        self._room = Room()
        self._start_size = size_of_state(state)
        self._load(start)

    def copy(self) -> Session:
        """A copy that shares nothing that changes, and has all the room of one call."""
        twin = object.__new__(Session)
        twin.pages, twin.task, twin.note, twin._cached = self.pages, self.task, None, None
        twin._room, twin._start_size = Room(), self._start_size
        twin.state = fresh(self.state)
        twins = {id(visit): visit.copy() for visit in (*self.history, *self.left.values())}
        twin.history = [twins[id(visit)] for visit in self.history]
        twin.left = {url: twins[id(visit)] for url, visit in self.left.items()}
        return twin

    @property
    def visit(self) -> Visit:
        """The visit of the page that is open."""
        return self.history[-1]

    @property
    def page(self) -> Page:
        """The page that is open."""
        return self.pages[self.visit.url]

    def show(self) -> Shown:
        """The page as it is now. Raises FillError when a text or a condition on it comes to nothing."""
        if self._cached is None:
            # A form is looked at again after every field that is filled in, and each look is as large as the page.
            self._room = Room(work=self._room.work)
            self._cached = look(self.page, self.visit.values, self.scope)
        return self._cached

    def scope(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """What placeholders and conditions may name, and the room that is left for what they stand for."""
        return {"args": args, "state": self.state, "fixtures": {}, "task": self.task, ROOM: self._room}

    # What an agent can do. Each raises ActionError, FieldError, FillError, TargetError or OverfullError, and is
    # done on a copy.

    def navigate(self, url: str) -> None:
        """Opens a page by its URL."""
        found = find_page(url, self.visit.url, self.pages)
        if found is None:
            raise ActionError(f"There is no page “{url[:200]}” in this site.")
        self._load(found)

    def back(self) -> None:
        """Goes back to the page before, with what was typed there."""
        if len(self.history) < 2:
            raise ActionError("There is no page to go back to.")
        self._leave()
        self.history.pop()
        self._changed()

    def click(self, ref: str) -> None:
        """Follows a link, presses a button, ticks a box or chooses a radio button."""
        seen = self.find(ref)
        element = seen.element
        if _disabled(seen):
            raise ActionError(f"“{ref}” is disabled.")
        if element.type == "link":
            self._follow(as_text(seen.shown["href"]))
        elif element.type == "button":
            self._press(seen)
        elif element.type == "checkbox":
            self.enter(ref, not self.visit.values[element.number])
        elif element.type == "radio":
            self.enter(ref, True)
        else:
            self.note = f"Nothing happens on a click on “{ref}”."

    def enter(self, ref: str, value: Any) -> None:
        """Puts a value into a field."""
        seen = self.find(ref)
        if not seen.element.is_field:
            raise ActionError(f"“{ref}” is {article(seen.element.type)}; nothing can be entered there.")
        enter(self.page, seen.element, value, seen.shown, self.visit.values)
        self.visit.faults.pop(seen.element.number, None)
        self.visit.touched = True
        self._changed()

    def submit(self, ref: str, entered: Mapping[str, Any]) -> None:
        """Enters values into the fields of a form, by id or by name, and submits it."""
        seen = self.find(ref)
        number = seen.element.number if seen.element.type == "form" else seen.element.form
        if number is None:
            raise ActionError(f"“{ref}” is no form, and stands in none.")
        for name, value in entered.items():
            self._enter_by_name(number, name, value)
        button = seen if seen.element.type == "button" else None
        if button is None:
            button = next((each for each in self._in_form(number) if _submits(each)), None)
        if button is not None and _disabled(button):
            raise ActionError(f"The form cannot be submitted: its button “{button.element.ref}” is disabled.")
        self._submit(number, button)

    def find(self, ref: str) -> Seen:
        """The element that is called ``ref``. Raises ActionError."""
        shown = self.show()
        found = shown.find(ref)
        if found is not None:
            return found
        if sum(each.element.name == ref for each in shown.all()) > 1:
            raise ActionError(f"Several elements are called “{ref[:200]}”; use what stands in brackets.")
        if any(ref in (element.ref, element.name) for element in self.page.all):
            raise ActionError(f"“{ref[:200]}” is not on the page now.")
        known = [
            each.element.ref
            for each in shown.all()
            if each.element.type in ACTIVE and each.element.spec.get("inputType") != "hidden"
        ]
        names = ", ".join(f"“{name}”" for name in known[:40]) or "none"
        raise ActionError(f"There is no element “{ref[:200]}” on this page. Its elements are: {names}.")

    def _in_form(self, number: int) -> list[Seen]:
        return [each for each in self.show().all() if each.element.form == number]

    def _enter_by_name(self, form: int, name: str, value: Any) -> None:
        fields = [each for each in self._in_form(form) if each.element.is_field]
        found = [each for each in fields if each.element.ref == name]
        found = found or [each for each in fields if each.element.name == name]
        if not found:
            known = ", ".join(f"“{each.element.name or each.element.ref}”" for each in fields)
            raise ActionError(f"The form has no field “{name[:200]}”. Its fields are: {known or 'none'}.")
        first = found[0].element
        if first.type == "radio" and not isinstance(value, bool):
            for each in found:
                if value in (each.element.spec.get("value"), each.shown.get("label")):
                    return self.enter(each.element.ref, True)
            known = ", ".join(f"“{each.element.spec.get('value')}”" for each in found)
            raise ActionError(f"“{name}” has no choice “{as_text(value)[:200]}”. Its choices are: {known}.")
        if first.type == "checkbox" and isinstance(value, list):
            offered = [each.element.spec.get("value") for each in found]
            if unknown := [each for each in value if each not in offered]:
                raise ActionError(f"“{name}” has no box “{as_text(unknown[0])[:200]}”.")
            for each in found:
                self.enter(each.element.ref, each.element.spec.get("value") in value)
            return None
        if len(found) > 1:
            raise ActionError(f"Several fields are called “{name}”; name one by its id.")
        return self.enter(first.ref, value)

    def _press(self, seen: Seen) -> None:
        element = seen.element
        if element.spec.get("submit") is True and element.form is not None:
            return self._submit(element.form, seen)
        if element.spec.get("reset") is True and element.form is not None:
            for each in self._in_form(element.form):
                if each.element.is_field:
                    self.visit.values[each.element.number] = start_value(each.element, each.shown)
            return self._changed()
        if not element.changes and "href" not in seen.shown:
            self.note = f"Nothing happens on a click on “{element.ref}”."
            return None
        self._make_changes(element, self._args(element.form, seen))
        if "href" in seen.shown:
            self._follow(as_text(seen.shown["href"]))
            self.note = None if element.changes else self.note
        return None

    def _args(self, form: int | None, button: Seen | None) -> dict[str, Any]:
        fields = [
            each.element
            for each in self.show().all()
            if each.element.is_field and each.element.form == form and not _disabled(each)
        ]
        args = sent(fields, self.visit.values, groups_of(self.page, form))
        if button is not None and button.element.name:
            args[button.element.name] = as_text(button.shown.get("value", ""))
        return args

    def _submit(self, number: int, button: Seen | None) -> None:
        visit = self.visit
        visit.touched, visit.faults, visit.alert = True, {}, None
        self._changed()
        within = self._in_form(number)
        for each in within:
            if each.element.is_field and not _disabled(each):
                group = [
                    visit.values[other.element.number]
                    for other in within
                    if other.element.type == "radio"
                    and (other is each or (each.element.name and other.element.name == each.element.name))
                ]
                fault = fault_of(each.element, visit.values[each.element.number], group)
                if fault is not None:
                    visit.faults[each.element.number] = fault
        form = next(element for element in self.page.all if element.number == number)
        if visit.faults:
            visit.alert = (number, "The form was not sent. Correct the fields that are marked invalid.")
            return self._changed()
        args = self._args(number, button)
        scope = self.scope(args)
        if form.accepts is not None and not any(_accepted(each, args) for each in form.accepts(scope)):
            refusal = as_text(form.refusal(scope)) if form.refusal is not None else ""
            visit.alert = (number, refusal or "The values are not accepted.")
            return self._changed()
        self._make_changes(form, args)
        if button is not None:
            self._make_changes(button.element, args)
        target = as_text(form.action(self.scope(args))) if form.action is not None else None
        if button is not None and "href" in button.shown:
            target = as_text(button.shown["href"])
        if target is not None:
            self._follow(target)
        else:
            self.note = "The form was sent."
            self._changed()
        return None

    def _make_changes(self, element: Element, args: Mapping[str, Any]) -> None:
        # As of FormData: what is not on the page now is not among the entries, and asked for by its name it is null.
        form = element.number if element.type == "form" else element.form
        absent = {each.name: None for each in self.page.fields(form) if each.name and not _is_disabled(each)}
        sent, by_its_name = self.scope(args), self.scope({**absent, **args})
        filled = [
            (
                change.path.fill(sent),
                change.value(sent if change.takes_all else by_its_name),
                change.path,
            )
            for change in element.changes
        ]
        for steps, value, path in filled:
            put(self.state, steps, value, append=path.appends, existing=path.filled)
        if filled:
            check_growth(size_of_state(self.state) - self._start_size)
        self._changed()

    def _follow(self, url: str) -> None:
        found = find_page(url, self.visit.url, self.pages)
        if found is None:
            raise ActionError(f"This leads to “{url[:200]}”, and there is no such page in this site.")
        if url.startswith("#"):
            self.note = "Nothing happens: this leads to the page that is open."
        else:
            self._load(found)

    def _load(self, url: str) -> None:
        if self.history:
            self._leave()
        visit = Visit(url, {})
        self.history.append(visit)
        self._changed()
        scope = self.scope({})
        for element in self.pages[url].all:
            if element.is_field:
                try:
                    shown = element.shown(scope)
                except FillError:
                    shown = {}  # it says so when it is shown; until then it may be hidden
                visit.values[element.number] = start_value(element, shown)

    def _leave(self) -> None:
        """Remembers what was entered on a page; a later visit that only looks does not take its place."""
        visit = self.visit
        if visit.touched or visit.url not in self.left or not self.left[visit.url].touched:
            self.left[visit.url] = visit

    def _changed(self) -> None:
        self._cached = None

    def restore(self, fields: Mapping[str, Any]) -> None:
        """Puts the values of a final state, by id or by name, back into the fields of the page that is open."""
        for element in self.page.all:
            name = element.id if element.id in fields else element.name
            if not element.is_field or name is None or name not in fields:
                continue
            value, mine = fields[name], element.spec.get("value", True)
            if element.type in ("checkbox", "radio") and not isinstance(value, bool):
                value = mine in value if isinstance(value, list) else value == mine
            elif element.type not in ("checkbox", "radio") and not isinstance(value, list):
                value = "" if value is None else as_text(value)
            self.visit.values[element.number] = value
        self._changed()

    def final(self) -> dict[str, Any]:
        """The state of the site, and beside it the URL and title of the page that is open, and the values by page."""
        visits = dict(self.left)
        current = self.visit
        self._room = Room()  # for the title
        if current.touched or current.url not in visits or not visits[current.url].touched:
            visits[current.url] = current
        values = {url: by_name(self.pages[url], visit.values) for url, visit in sorted(visits.items())}
        try:
            title: str | None = as_text(self.page.title(self.scope({})))
        except FillError:
            title = None
        return {**fresh(self.state), "url": current.url, "title": title, "values": values}


def fresh_values(values: Values) -> Values:
    """A copy of the values of a page."""
    return {number: list(value) if isinstance(value, list) else value for number, value in values.items()}


def _accepted(wanted: Any, args: Mapping[str, Any]) -> bool:
    if not isinstance(wanted, dict) or not wanted:
        raise TemplateError("A set of accepted values is empty.")
    return all(name in args and compare_field(value, args[name]) is None for name, value in wanted.items())


def _submits(seen: Seen) -> bool:
    return seen.element.type == "button" and seen.element.spec.get("submit") is True


def _disabled(seen: Seen) -> bool:
    return _is_disabled(seen.element)


def _is_disabled(element: Element) -> bool:
    return element.spec.get("disabled") is True


__all__ = ["ActionError", "Session", "Visit", "fresh_values"]
