"""command_passes: a command, such as the tests, ends well in a sandbox that holds the final files.

The files are those that the agent left, with hidden files laid over them, and test files and settings of the test
runner put back as the environment has them. Where the command starts pytest, unittest, node --test, Jest or Vitest, the
runner itself has to report that at least one test passed, that none failed, and that all those in ``required`` passed;
its exit status has to say the same, and code that the agent wrote may not reach for what tests it, but for what
``allow`` names. Of any other command the exit status is all there is, and the reason says so.

A command that was stopped, and a run in which no test failed though it did not pass, fail also under ``not``.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote, split
from typing import Any, cast

from rollout.sandbox import Ended, Job, Limits, SandboxError, run
from rollout.sandbox.commands import EXIT_STATUS, Command, CommandError, hidden_report, read_command, told
from rollout.sandbox.witness import RunnerName, Witness
from rollout.verifiers import CannotJudgeError, Case, Judgement, UnscoredError, absent, failed, passed
from rollout.verifiers._final_files import final_files
from rollout.verifiers._reaching import as_sentence, find_reach, reached_before, starters
from rollout.verifiers._reaching_library import DOUBTFUL
from rollout.verifiers._test_report import read_run

LIMITS_ITSELF = True

_STOPPED = {
    "time": "it was stopped after {limits.seconds:g} seconds",
    "memory": "it was stopped, since it used more than {memory} MiB of memory",
    "processes": "it was stopped, since it started more than {limits.processes} processes",
    "output": "it was stopped, since it printed more than {output} MiB",
}

_GUARDED = re.compile(r"^rollout: (.{1,200}) reached for (.{1,100})\.$", re.MULTILINE)
"""What the guard of a process of node's says before it ends the process."""

_PROBES = {
    "pytest": "python -c 'import pytest'",
    "unittest": "python -c 'import unittest'",
    "node": "node -e ''",
    "jest": "command -v node",
    "vitest": "command -v node",
}


async def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the command ended well, else 0 with what was wrong; the evidence has what it printed."""
    command = _command(case, options)
    required = options.get("required") or ()
    laid_down = final_files(case, command.report, options.get("tests"), line=command.line, required=required)
    witness = None
    if command.report != EXIT_STATUS:
        trusted = {
            path: content for path, content in laid_down.files.items() if path not in laid_down.written
        }
        allowed = frozenset(options.get("allow") or ())
        witness = Witness(
            cast(RunnerName, command.report),
            trusted,
            tests=laid_down.tests,
            guarded=laid_down.guarded - allowed,
            secret=laid_down.secret - allowed,
            written=laid_down.written,
            allowed=allowed | await asyncio.to_thread(reached_before, laid_down, command.report),
            doubtful=DOUBTFUL,
            starters=starters(laid_down),
        )
    elif required:
        raise CannotJudgeError(
            f"“{command.line}” starts no test runner that is known, so it cannot be told which tests passed."
            " Say which with “report”."
        )
    job = Job(command.line, laid_down.files, command.variables, command.limits, witness)
    ended = await _run(job)
    evidence = {"command": command.line, "report": command.report, **told(ended)}
    if laid_down.remarks:
        evidence["remarks"] = list(laid_down.remarks)
    remarks = "".join(f" {remark}" for remark in laid_down.remarks)
    if ended.stopped is not None:
        return absent(f"“{command.line}” did not pass: {_stopped(ended, command.limits)}.{remarks}", evidence)
    if witness is None:
        await _expect_program(command, ended)
        if ended.status != 0:
            return failed(f"“{command.line}” ended with exit status {ended.status}.{remarks}", evidence)
        note = "there is no report of tests, so this is all there is to go by"
        return passed(f"“{command.line}” ended with exit status 0; {note}.{remarks}", evidence)
    finding = read_run(
        witness,
        ended.report,
        ended.status,
        required=required,
        laid_down=laid_down,
    )
    if not finding.started:
        await _expect_runner(command)
    if finding.passed:
        allow, asked = options.get("allow") or (), case.task.instruction
        reach = await asyncio.to_thread(find_reach, laid_down, command.report, allow=allow, asked=asked)
        if reach is not None and reach.certain:
            return failed(f"{as_sentence(reach, command.line)}{remarks}", evidence)
        if reach is not None:
            raise UnscoredError(f"{as_sentence(reach, command.line)}{remarks}", evidence=evidence)
        if finding.doubt is not None:
            raise UnscoredError(
                f"“{command.line}” passed, and it cannot be told what that means: {finding.doubt}. "
                f"If the task needs that, put {finding.allow} under “allow”.{remarks}",
                evidence=evidence,
            )
    verb = "passed" if finding.passed else "did not pass"
    guarded = _GUARDED.search(ended.output) if command.report == "node" and not finding.passed else None
    said = f" “{guarded[1]}” reached for “{guarded[2]}”." if guarded is not None else ""
    reason = f"“{command.line}” {verb}. {finding.sentence}{said}{remarks}"
    if finding.passed:
        return passed(reason, evidence)
    return failed(reason, evidence) if finding.failed else absent(reason, evidence)


def _command(case: Case, options: Mapping[str, Any]) -> Command:
    written, declared = options["command"], case.config.get("commands") or {}
    name = written
    if written in declared:
        written = declared[written]
    elif len(written.split()) == 1 and declared:
        raise CannotJudgeError(f"There is no command “{written}” among the environment's commands.")
    files = case.initial_state.get("files")
    try:
        command = read_command(name, written, files if isinstance(files, dict) else {})
    except CommandError as error:
        raise CannotJudgeError(str(error)) from None
    report = options.get("report", command.report)
    is_told = "report" in options or (isinstance(written, Mapping) and "report" in written)
    if not is_told and (runner := hidden_report(command.line, files if isinstance(files, dict) else {})):
        raise CannotJudgeError(
            f"“{command.line}” runs tests with {runner}, but not as its last command, so it has no report of "
            "them. Put nothing after them, or write “report: exit-status” to go by the exit status of the line alone."
        )
    limits = command.limits
    if "timeout" in options:
        limits = replace(limits, seconds=float(options["timeout"]))
    return replace(command, report=report, limits=limits)


async def _run(job: Job) -> Ended:
    try:
        return await run(job)
    except SandboxError as error:
        raise CannotJudgeError(str(error), charged_to="infrastructure") from None


async def _expect_runner(command: Command) -> None:
    """Raises CannotJudgeError when the test runner is not there at all, whatever the agent did."""
    ended = await _run(Job(_PROBES[command.report], {}, limits=Limits(seconds=30)))
    if ended.status != 0:
        raise CannotJudgeError(
            f"“{command.line}” cannot be run: {command.report} is not there in the sandbox"
            f"{_way_to(command.report)}. {_last_line(ended.output)}",
            charged_to="infrastructure",
        )


async def _expect_program(command: Command, ended: Ended) -> None:
    if ended.status != 127:
        return
    try:
        program = next((word for word in split(command.line) if "=" not in word), "")
    except ValueError:
        return
    if "/" in program or not program:
        return
    found = await _run(Job(f"command -v {quote(program)}", {}, limits=Limits(seconds=30)))
    if found.status != 0:
        raise CannotJudgeError(
            f"“{command.line}” cannot be run: there is no program “{program}” in the sandbox.",
            charged_to="infrastructure",
            evidence={"missing": program},
        )


def _way_to(runner: str) -> str:
    if runner != "pytest":
        return ""
    install = f"“{quote(sys.executable)} -m pip install pytest”"
    return f"; it has to be in the Python that runs rollout ({install}), or in the container's image"


def _stopped(ended: Ended, limits: Limits) -> str:
    assert ended.stopped is not None
    mib = 1024 * 1024
    return _STOPPED[ended.stopped].format(
        limits=limits, memory=limits.memory // mib, output=limits.output // mib
    )


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return f"It said: {lines[-1][:200]}" if lines else ""


__all__ = ["judge"]
