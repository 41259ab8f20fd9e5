"""browser: a small web site of pages, forms and links, which an agent reads as text and acts on by element ids.

A form checks what was typed, ``accepts`` only the values that it lists, makes its ``mutates`` in the site's state and
leads to its ``action``. What is shown may hold ``${state.…}``, and an element with ``when`` is there only while its
condition holds. The final state is the site's state, and beside it ``url``, ``title``, and ``values``: what stands in
the fields of every page that was opened, by id and by name.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import Any

from rollout.environment import Environment, Task
from rollout.language.interpolation import FillError, fresh
from rollout.language.paths import TargetError
from rollout.language.room import OverfullError
from rollout.language.site import OWN_KEYS, find_page
from rollout.templates import Result, Script, TemplateError, Tool
from rollout.templates._browser_fields import FieldError, check_patterns
from rollout.templates._browser_html import render
from rollout.templates._browser_pages import compile_pages
from rollout.templates._browser_search import search
from rollout.templates._browser_session import ActionError, Session
from rollout.templates._browser_shown import article
from rollout.templates._browser_view import line_of, view
from rollout.templates._overfull import Given, answered

_ELEMENT = {
    "description": "The element: what stands before it in brackets, such as save or 12.",
    "type": ["string", "integer"],
}


def _tool(name: str, description: str, **parameters: Any) -> Tool:
    needed = [key for key in parameters if key != "fields"]
    schema: dict[str, Any] = {"type": "object", "properties": parameters}
    if needed:
        schema["required"] = needed
    return Tool(name, description, {**schema, "additionalProperties": False})


TOOLS = (
    _tool("read_page", "Shows the page that is open: its URL, its title and what is on it."),
    _tool(
        "navigate",
        "Opens a page of the site by its URL.",
        url={"description": "The URL, such as /orders.", "type": "string"},
    ),
    _tool("back", "Goes back to the page before."),
    _tool("click", "Clicks on a link, a button, a checkbox or a radio button.", element=_ELEMENT),
    _tool(
        "fill",
        "Types into a textbox; what stood in it is replaced.",
        element=_ELEMENT,
        value={"description": "What is to stand there.", "type": ["string", "number"]},
    ),
    _tool(
        "select",
        "Chooses an option of a combobox or listbox.",
        element=_ELEMENT,
        option={
            "description": "The option's words; a list of them where several may be chosen.",
            "type": ["string", "number", "array"],
            "items": {"type": ["string", "number"]},
        },
    ),
    _tool("check", "Ticks a checkbox, or chooses a radio button.", element=_ELEMENT),
    _tool("uncheck", "Takes the tick out of a checkbox.", element=_ELEMENT),
    _tool(
        "submit",
        "Submits a form, after entering values into its fields where some are given.",
        element={**_ELEMENT, "description": "The form, or one of its buttons."},
        fields={
            "description": "Field id or name to value: a text, an option's words, true or false for a checkbox.",
            "type": "object",
            "additionalProperties": {
                "type": ["string", "number", "boolean", "array"],
                "items": {"type": ["string", "number"]},
            },
        },
    ),
)
"""The tools of every browser environment, in the order they are shown."""


def prepare(environment: Environment) -> BrowserStage:
    """Makes a site ready. Raises TemplateError when one of its pages cannot be shown."""
    return BrowserStage(environment)


class BrowserStage:
    """A site made ready: its compiled pages are shared by all worlds and never changed."""

    tools = TOOLS

    def __init__(self, environment: Environment) -> None:
        config = environment.config or {}
        self.pages = compile_pages(config)
        for page in self.pages.values():
            check_patterns(page)
        start = config.get("initialUrl")
        found = find_page(start, "", self.pages) if isinstance(start, str) else None
        if found is None:
            raise TemplateError(f"There is no page “{start}” for the site to start on.")
        self.start = found
        state = config.get("initialState", {})
        if not isinstance(state, dict):
            raise TemplateError("“initialState” is not an object.")
        for key in OWN_KEYS:
            if key in state:
                raise TemplateError(
                    f"The state of a site cannot have the key “{key}”: it is the browser's own."
                )
        self._image = marshal.dumps(state)
        self._environment = environment
        notes = f"The page “{found}” is open in a browser; read_page shows it."
        description = str(config.get("description") or "").strip()
        self.notes = f"{description}\n\n{notes}" if description else notes

    def session(self, task: Task) -> Session:
        """A browser of its own on a fresh copy of the site."""
        scope = {} if task.input is None else {"input": fresh(task.input)}
        return Session(self.pages, self.start, marshal.loads(self._image), scope)

    def open(self, task: Task) -> BrowserWorld:
        """A world with a state of its own."""
        try:
            return BrowserWorld(self.session(task))
        except OverfullError as error:
            raise TemplateError(f"The page “{self.start}” cannot be shown: it {error}.") from None

    def solve(self, task: Task) -> Script | None:
        """The shortest clicks to the ground truth, where links and buttons alone lead there."""
        return search(self.open(task).now, task.hidden_ground_truth, self._environment.verifier)


class BrowserWorld:
    """One rollout's own browser."""

    def __init__(self, session: Session) -> None:
        self.now = session
        self._given = Given()

    async def call(self, name: str, args: Mapping[str, Any]) -> Result:
        """Does one thing and shows what came of it; what an agent can cause is an error in the result.

        Raises TemplateError where a page or a form makes more than there is room for.
        """
        self._given.add(args)
        try:
            return answered(self._done(name, args))
        except OverfullError as error:
            return self._given.refuse(name, error)

    def _done(self, name: str, args: Mapping[str, Any]) -> Result:
        try:
            if name == "read_page":
                return Result(view(self.now))
            after = self.now.copy()
            _ACTIONS[name](after, args)
            text = self._told(name, args, after)
        except OverfullError:
            raise
        except (ActionError, FieldError, FillError, TargetError) as error:
            return Result.failed(str(error))
        after.note = None
        self.now = after
        return Result(text)

    def _told(self, name: str, args: Mapping[str, Any], after: Session) -> str:
        whole = view(after)
        if after.note is not None and whole == f"{after.note}\n{view(self.now)}":
            return after.note
        if name in _ENTERING:
            before, now = view(self.now).split("\n"), whole.split("\n")
            if len(before) == len(now):
                # Where nothing came or went, the lines that changed say it all.
                changed = [new for old, new in zip(before, now, strict=True) if old != new]
                return "\n".join(line.lstrip("\t") for line in changed) or line_of(after, _ref(args))
        return whole

    def state(self) -> dict[str, Any]:
        """A copy of the site's state, with the browser's own keys beside it."""
        return self.now.final()

    async def close(self) -> None:
        """There is nothing to give back."""


def _ref(args: Mapping[str, Any]) -> str:
    ref = str(args["element"]).strip()
    return ref[1:-1].strip() if ref.startswith("[") and ref.endswith("]") else ref


def _fill(session: Session, args: Mapping[str, Any]) -> None:
    kind = session.find(_ref(args)).element.type
    if kind not in ("input", "textarea"):
        raise ActionError(f"“{_ref(args)}” is {article(kind)}; fill types into a textbox.")
    session.enter(_ref(args), args["value"])


def _select(session: Session, args: Mapping[str, Any]) -> None:
    kind = session.find(_ref(args)).element.type
    if kind != "select":
        raise ActionError(f"“{_ref(args)}” is {article(kind)}; select chooses from a combobox or listbox.")
    session.enter(_ref(args), args["option"])


def _check(session: Session, args: Mapping[str, Any], *, ticked: bool) -> None:
    kind = session.find(_ref(args)).element.type
    if kind not in (("checkbox", "radio") if ticked else ("checkbox",)):
        raise ActionError(
            f"“{_ref(args)}” is {article(kind)}; {'check' if ticked else 'uncheck'} is for a checkbox."
        )
    session.enter(_ref(args), ticked)


_ENTERING = frozenset({"fill", "select", "check", "uncheck"})

_ACTIONS: Mapping[str, Callable[[Session, Mapping[str, Any]], None]] = {
    "navigate": lambda session, args: session.navigate(args["url"]),
    "back": lambda session, args: session.back(),
    "click": lambda session, args: session.click(_ref(args)),
    "fill": _fill,
    "select": _select,
    "check": lambda session, args: _check(session, args, ticked=True),
    "uncheck": lambda session, args: _check(session, args, ticked=False),
    "submit": lambda session, args: session.submit(_ref(args), args.get("fields") or {}),
}


def show_html(environment: Environment, final_state: Mapping[str, Any], task: Task | None = None) -> str:
    """The page that a final state has open, as inert HTML for a report: escaped, without scripts, links or forms.

    Raises TemplateError when the environment cannot be run, and ValueError when the state is not of this site.
    """
    stage = prepare(environment)
    url = final_state.get("url")
    if url not in stage.pages:
        raise ValueError(f"There is no page “{url}” in this site.")
    site = {key: value for key, value in final_state.items() if key not in OWN_KEYS}
    scope = {"input": fresh(task.input)} if task is not None and task.input is not None else {}
    session = Session(stage.pages, url, fresh(site), scope)
    values = final_state.get("values")
    fields = values.get(url) if isinstance(values, dict) else None
    session.restore(fields if isinstance(fields, dict) else {})
    return render(session)


__all__ = ["TOOLS", "BrowserStage", "BrowserWorld", "prepare", "show_html"]
