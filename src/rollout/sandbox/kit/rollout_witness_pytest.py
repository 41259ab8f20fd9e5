"""The witness of pytest, loaded by `-p` before any conftest file."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH109, PTH123

import hashlib
import os
import sys
import unittest
import unittest.case

import _pytest.outcomes
import _pytest.python
import _pytest.reports
import _pytest.runner
import pytest
import rollout_witness


def _make():
    tell = rollout_witness.open_report()
    rollout_witness.take_path_back()
    os.environ.pop("PYTEST_ADDOPTS", None)
    if tell is None:
        return {}
    # Where raises and approx are depends on pytest's version.
    homes = {sys.modules[each.__module__] for each in (pytest.raises, pytest.approx)}
    broken = rollout_witness.seal(
        unittest.case, _pytest.runner, _pytest.reports, _pytest.python, _pytest.outcomes, *homes
    )
    phases = {}
    told = []

    def check():
        name = broken()
        if name is not None and not told:
            told.append(name)
            tell(t="problem", what="“" + name + "” was replaced while the tests ran")

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(config):
        tell(t="begin", runner="pytest", version=pytest.__version__)

    @pytest.hookimpl(trylast=True)
    def pytest_collectstart(collector):
        # This is called just before the file is imported, which is what code under test cannot undo.
        if not isinstance(collector, pytest.Module):
            return
        try:
            with open(str(collector.path), "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
        except OSError:
            return
        tell(t="file", path=os.path.relpath(str(collector.path), os.getcwd()), sha256=digest)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(session):
        if hasattr(session, "items"):
            tell(t="tests", names=[item.nodeid for item in session.items])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(report):
        if report.failed:
            tell(t="problem", what="“" + (report.nodeid or "tests") + "” cannot be collected")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(report):
        seen = phases.setdefault(report.nodeid, [])
        if report.failed:
            seen.append("failed")
        elif report.skipped:
            seen.append("xfailed" if hasattr(report, "wasxfail") else "skipped")
        elif report.when == "call":
            seen.append("passed")
        if report.when == "teardown":
            for outcome in ("failed", "xfailed", "skipped", "passed"):
                if outcome in seen:
                    break
            else:
                outcome = "unknown"
            tell(t="test", name=report.nodeid, outcome=outcome)
            phases[report.nodeid] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(nodeid, location):
        check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(excrepr):
        tell(t="problem", what="pytest broke down")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(session, exitstatus):
        check()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(config):
        tell(t="end")

    return {name: hook for name, hook in locals().items() if name.startswith("pytest_")}


globals().update(_make())
