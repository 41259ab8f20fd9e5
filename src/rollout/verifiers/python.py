"""python: a function of the author's, in a file of the environment's folder, judges. It stays on this machine.

``function`` is ``FILE.py:NAME``. The function gets the case as one dictionary: ``task`` (``id``, ``instruction``,
``input``, ``split``, ``hidden_ground_truth``), ``template``, ``initial_state``, ``final_state``, ``final_output``,
and ``calls``, each with ``tool``, ``args``, ``content``, ``error`` and ``ran``. It gives true or false, a number from
0 to 1, or a pair of one of these and a sentence that says why. It may be async, and may print, which is kept as
evidence.

Each judgement runs in a process of its own, in the sandbox: without network, with the texts of the environment's
folder as its working folder, 30 seconds (or ``timeout``) and 1 GiB of memory. An exception, another value, a crash,
or a limit that is reached is an error, charged to the verifier. It must not run what the agent wrote:
``command_passes`` is for that.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from shlex import quote
from typing import Any

from rollout.sandbox import Ended, Job, Limits, SandboxError, run
from rollout.sandbox.commands import steady
from rollout.source.author_files import NoFunctionError, author_files
from rollout.verifiers import CannotJudgeError, Case, Judgement

LIMITS_ITSELF = True

SECONDS = 30.0
MEMORY = 1024 * 1024 * 1024

_RUNNER, _CASE = ".rollout/run.py", ".rollout/case.json"
_LONGEST_PRINTED = 8_000
_FUNCTION = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[^\W\d]\w*)")
_STOPPED = {
    "time": "took longer than {seconds:g} seconds",
    "memory": "used more than {memory} MiB of memory",
    "processes": "started too many processes",
    "output": "printed too much",
}


async def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """What the function says. Raises CannotJudgeError when it says nothing that counts."""
    written = options["function"]
    match = _FUNCTION.fullmatch(written)
    if match is None:
        raise CannotJudgeError(f"“{written}” is no function: write FILE.py:NAME.")
    folder = case.folder
    if folder is None:
        raise CannotJudgeError(f"“{written}” cannot be found: the environment was not read from a folder.")
    try:
        files = await asyncio.to_thread(author_files, folder, match["file"])
    except NoFunctionError as error:
        raise CannotJudgeError(str(error)) from None
    seal = f"answer {token_hex(16)} "
    files[_RUNNER] = _runner()
    files[_CASE] = json.dumps({**told_case(case), "seal": seal})
    limits = Limits(seconds=float(options.get("timeout", SECONDS)), memory=MEMORY)
    command = f"exec python3 -B -P -s {_RUNNER} {quote(match['file'])} {match['name']} < {_CASE}"
    try:
        ended = await run(Job(command, files, limits=limits))
    except SandboxError as error:
        raise CannotJudgeError(str(error), charged_to="infrastructure") from None
    return _judgement(written, ended, seal, limits)


def told_case(case: Case) -> dict[str, Any]:
    """A case as the function gets it."""
    task = case.task
    return {
        "task": {
            "id": task.key,
            "instruction": task.instruction,
            "input": task.input,
            "split": task.split,
            "hidden_ground_truth": task.hidden_ground_truth,
        },
        "template": case.template,
        "initial_state": case.initial_state,
        "final_state": case.final_state,
        "final_output": case.final_output,
        "calls": [
            {
                "tool": call.tool,
                "args": call.args,
                "content": call.content,
                "error": call.error,
                "ran": call.ran,
            }
            for call in case.calls
        ],
    }


def _judgement(written: str, ended: Ended, seal: str, limits: Limits) -> Judgement:
    printed, found, answered = ended.output.rpartition(f"\n{seal}")
    if not found:
        printed, answered = ended.output, ""
    shown = steady(printed.strip())
    evidence = {"printed": shown[-_LONGEST_PRINTED:]} if shown else {}

    def broken(what: str) -> CannotJudgeError:
        return CannotJudgeError(f"“{written}” {what}.", evidence=evidence)

    if ended.stopped is not None:
        raise broken(_STOPPED[ended.stopped].format(seconds=limits.seconds, memory=limits.memory // 2**20))
    if not found:
        said = f", and said last: {shown.splitlines()[-1][:200].rstrip('.')}" if shown else ""
        raise broken(f"ended with exit status {ended.status} and without an answer{said}")
    answer: dict[str, Any] = json.loads(answered)
    if "raised" in answer:
        at = f" ({answer['at']})" if answer["at"] else ""
        raise broken(f"raised {answer['raised'].rstrip('.')}{at}")
    if "wrong" in answer:
        raise broken(f"gave {answer['wrong']}, which is neither true, false nor a number from 0 to 1")
    value: float = answer["value"]
    reason = str(answer["reason"]).strip() or f"“{written}” gave {value:g}."
    return Judgement(value, reason[:2_000], evidence)


def _runner() -> str:
    return Path(__file__).with_name("_run_function.py").read_text(encoding="utf-8")


__all__ = ["judge", "told_case"]
