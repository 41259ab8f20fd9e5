"""What a platform's model wrote: had, examined here, and shown where it does not hold."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rollout.cli.asking import who
from rollout.cli.inputs import project_settings
from rollout.cli.output import Exit, fail, note, render, tell_found, visible, wants_color
from rollout.compile.folder_writer import WriteError, write_folder
from rollout.diagnostics import Diagnostic, Severity
from rollout.diagnostics._visible import dump_json
from rollout.platform.author import ROUNDS
from rollout.platform.client import Client
from rollout.platform.drafting import Draft, DraftError, Examined, examine, in_words, known_parts, read_draft
from rollout.platform.errors import RolloutError

Ask = Callable[[], dict[str, Any]]


class Generation:
    """A model's work on an environment of one template, which is called ``slug`` and ``name`` here.

    ``used`` is what the platform says that it took, where it does."""

    def __init__(
        self,
        client: Client,
        template: str,
        *,
        slug: str,
        name: str,
        model: str | None,
        max_cost: float | None,
    ) -> None:
        self.used: dict[str, Any] = {}
        self._client = client
        self._template = template
        self._slug = slug
        self._name = name
        self._model = model
        self._max_cost = max_cost
        self._why: RolloutError | None = None

    def prepare(self) -> None:
        """Ends the command where nobody would write it, or the platform would not keep the limit to the cost."""
        if self._model is None and self._client.endpoint == "local" and project_settings().author is None:
            fail(
                "No model is named to write it.",
                "Name one: --model PROVIDER/MODEL, or in rollout.toml: [generate] model",
            )
        if self._max_cost is None or self._client.endpoint == "local":
            return
        who(self._client)
        if not self._client.answers_more:
            fail(
                f"{self._client.endpoint} keeps no limit to the cost.",
                "Leave out --max-cost, or write it here: --endpoint local",
            )

    def holds(self, examined: Examined) -> bool:
        """Whether it holds here, and the platform did not reject it either."""
        return examined.holds and self._why is None

    def generate(self, description: str) -> Examined:
        """What came of a description."""
        return self._had(
            lambda: self._client.generate_environment(
                description, self._template, self._model, max_cost=self._max_cost
            )
        )

    def refine(self, current: Mapping[str, Any], instruction: str) -> Examined:
        """What came of an instruction to change what there is."""
        return self._had(lambda: self._refined(current, instruction))

    def refuse(self, examined: Examined, keep: Path | None) -> None:
        """Shows what does not hold as that, and ends the command. ``keep`` is where it is to be left for a look."""
        errors = [each for each in examined.diagnostics if each.severity is Severity.ERROR]
        if errors:
            tell_found(errors, checked=[self._slug])
        if self._why is not None and examined.holds and isinstance(why := self._why.body.get("why"), str):
            note("\n".join(map(visible, why.split("\n"))))
        if examined.trouble is not None:
            note(f"error: {visible(examined.trouble)}")
        self.tell_use()
        if keep is not None and examined.files:
            try:
                write_folder(keep, examined.files)
                note(f"note: What was rejected is in “{visible(str(keep))}”.")
            except WriteError as error:
                note(f"note: What was rejected could not be kept. {error}")
        sentence = "It does not hold, so nothing was written."
        hint = "Say more of what is wanted, ask for less at once, or ask another model."
        if self._why is not None:
            sentence = f"{self._why.message} Nothing was written."
            hint = self._why.hint or hint
        fail(sentence, hint, code=Exit.FINDINGS)

    def tell_use(self) -> None:
        """Says what it took, where that is known."""
        if not self.used:
            return
        rounds, cost = self.used.get("rounds"), self.used.get("cost")
        tokens = f"{self.used.get('inputTokens', 0):,} + {self.used.get('outputTokens', 0):,} tokens"
        price = f", ${cost:,.4f}" if isinstance(cost, int | float) else ""
        note(f"note: {rounds} round{'s' * (rounds != 1)}, {tokens}{price}")

    def _refined(self, current: Mapping[str, Any], instruction: str) -> dict[str, Any]:
        return self._client.refine_environment(
            current, instruction, self._template, self._model, max_cost=self._max_cost
        )

    def _had(self, ask: Ask) -> Examined:
        answer = self._asked(ask)
        for left in reversed(range(ROUNDS)):
            draft = self._draft(answer)
            examined = examine(draft, slug=self._slug, name=self._name)
            # A server of ours has tried already.
            if examined.holds or not left or self._client.answers_more:
                return examined
            note("note: What was written does not hold; the platform is told why, and asked again.")
            told = f"This does not hold. Mend it, and change nothing else.\n\n{in_words(examined)}"
            current = draft.said

            def again(told: str = told, current: Mapping[str, Any] = current) -> dict[str, Any]:
                return self._refined(_published(current), told)

            answer = self._asked(again)
        raise AssertionError

    def _asked(self, ask: Ask) -> dict[str, Any]:
        try:
            answer = ask()
        except RolloutError as error:
            body = error.body if isinstance(error.body, dict) else {}
            if error.status != 422:
                raise
            self._note_use(body.get("usage"))
            if not isinstance(rejected := body.get("rejected"), dict):
                self.tell_use()
                if isinstance(why := body.get("why"), str):
                    note(visible(why) if "\n" not in why else "\n".join(map(visible, why.split("\n"))))
                    fail(f"{error.message} Nothing was written.", error.hint, code=Exit.FINDINGS)
                raise
            self._why = error
            return rejected
        self._note_use(answer.get("_usage"))
        return answer

    def _note_use(self, used: Any) -> None:
        if isinstance(used, dict) and isinstance(used.get("rounds"), int):
            self.used = used

    def _draft(self, answer: dict[str, Any]) -> Draft:
        known, own = known_parts(answer)
        for key in own:
            note(f"note: “{visible(key)}” is the platform's own and was left out.")
        try:
            return read_draft(known, self._template)
        except DraftError as error:
            fail(f"What {self._client.endpoint} answered is no environment: {error}", code=Exit.PLATFORM)


def _published(said: Mapping[str, Any]) -> dict[str, Any]:
    own = ("id", "solution")
    return {
        **said,
        "tasks": [{key: each for key, each in task.items() if key not in own} for task in said["tasks"]],
    }


def envelope(examined: Examined) -> dict[str, Any]:
    """As the platform answers it: ``{config | schema + seed, …, tasks, verifier?, _warnings}``."""
    warnings = [
        {"severity": str(each.severity), "target": str(each.span), "message": each.message}
        for each in examined.diagnostics
    ]
    return {**examined.draft.said, "_warnings": warnings}


def json_text(examined: Examined) -> str:
    """The envelope, to be read by people too."""
    return dump_json(envelope(examined))


def tell_warnings(diagnostics: Sequence[Diagnostic], label: str) -> None:
    """Shows what is left to look at in what holds."""
    if diagnostics:
        note(render(diagnostics, "text", color=wants_color(sys.stderr), checked=[label]).rstrip("\n"))


def wish_of(given: str | None, file: str | None, what: str) -> str:
    """The text that an argument or a file gives. Ends the command where neither does."""
    if (given is None) == (file is None):
        fail(
            f"The {what} is to be given once.",
            f"Write it as an argument, or in a file: --from-file {what.upper()}.md",
        )
    if given is not None:
        text = given
    else:
        try:
            text = sys.stdin.read() if file == "-" else Path(str(file)).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            fail(f"“{file}” cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}.")
    if not text.strip():
        fail(f"The {what} is empty.")
    return text


def check_money(max_cost: float | None) -> None:
    """Ends the command where ``--max-cost`` is no amount."""
    from math import isfinite

    if max_cost is not None and not isfinite(max_cost):
        fail("--max-cost is no number.", "Give it an amount in US dollars, such as --max-cost 0.50.")


__all__ = [
    "Generation",
    "check_money",
    "envelope",
    "json_text",
    "tell_warnings",
    "wish_of",
]
