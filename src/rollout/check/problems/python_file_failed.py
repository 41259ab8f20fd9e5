"""A Python environment file could not be run.

The file is run, in a process of its own, to get at its environments. It has a syntax error, it raised an exception,
it ended the program, or it did not come to its end within a minute.
The place is the innermost line in your own files; the steps that led to it are named below. A file that is read this
way should only make its environments: what starts a run or talks to the platform belongs under
`if __name__ == "__main__":`.

Before:

    from rollout import Environment
    env = Environment(slug="refund", name="Refund", template="workflow", config=load("config.json"))

After:

    import json
    from pathlib import Path
    from rollout import Environment
    config = json.loads(Path(__file__).with_name("config.json").read_text())
    env = Environment(slug="refund", name="Refund", template="workflow", config=config)
"""

from __future__ import annotations

import re
from inspect import signature

from rollout.check.masking import without_secrets_in
from rollout.check.wording import closest, listed, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL140"
SEVERITY = Severity.ERROR


_SYNTAX = "Mend it there or shortly before; Python itself says as much when it runs the file."
_OTHERWISE = "The file is run to read it: see that it runs by itself, with Python, without an error."


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    if facts.get("ended") is not None:
        return _ended(*facts["ended"])
    # A secret that is cut in two would not be known for one any more.
    name, text = facts["type"], without_secrets_in(" ".join(str(facts["text"]).split()))
    if name == "SystemExit":
        return (
            "The file ended the program before it was read to its end.",
            'Put what ends the program under: if __name__ == "__main__":',
        )
    if facts["missing"]:
        top = facts["missing"].partition(".")[0]
        return (
            f"The module {quoted(facts['missing'])} is not installed here.",
            f"Install what provides {quoted(top)} beside rollout, or import it where it is used.",
        )
    said = f"{name}: {text[:300].rstrip('.')}" if text else name
    if name in ("SyntaxError", "IndentationError", "TabError"):
        return f"This is no Python: {text.rstrip('.?!')}.", _SYNTAX
    if name == "RecursionError":
        return (
            f"The file failed here with {said}.",
            "A function calls itself here without an end, or data holds itself: give it an end.",
        )
    if name == "TypeError" and (meant := _keyword(text) or _left_out(text)) is not None:
        # Newer Pythons guess too, in the middle of the sentence.
        said = said.partition(". Did you mean")[0]
        return f"The file failed here with {said}.", meant
    if facts["file"]:
        return (
            f"The file failed here with {said}.",
            "A relative path counts from where the command is run; Path(__file__).with_name(…) counts from the file.",
        )
    return f"The file failed here with {said}.", _OTHERWISE


def _keyword(text: str) -> str | None:
    """The way out where one of rollout's own functions was given a keyword that it does not take."""
    match = re.search(r"(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'", text)
    if match is None:
        return None
    import rollout

    function = getattr(rollout, match[1], None) if match[1] in rollout.__all__ else None
    if not callable(function):
        return None
    known = [name for name in signature(function).parameters if name not in ("self", "kwargs")]
    near = closest(match[2], known)
    return f"Did you mean {quoted(near)}?" if near else f"It takes {listed(known)}."


def _left_out(text: str) -> str | None:
    """The way out where one of rollout's own functions was not given what it needs."""
    match = re.search(r"(\w+)(?:\.__init__)?\(\) missing \d+ required [\w-]+ arguments?: (.+)", text)
    if match is None:
        return None
    import rollout

    if match[1] not in rollout.__all__:
        return None
    missing = ", ".join(f"{name}=…" for name in re.findall(r"'(\w+)'", match[2]))
    return f"Write {match[1]}(…, {missing})."


def _ended(status: int | None, signal: str | None, seconds: float | None) -> tuple[str, str | None]:
    if seconds is not None:
        return (
            f"The file was still running after {seconds:g} seconds, and was stopped.",
            'It should only make its environments: put work that takes long under if __name__ == "__main__":',
        )
    how = f"with exit status {status}" if signal is None else f"by the signal {signal}"
    return (
        f"The process that ran the file ended {how} before the file was read to its end.",
        'Put what ends the program, such as os._exit(…), under: if __name__ == "__main__":',
    )


__all__ = ["CODE", "SEVERITY", "describe"]
