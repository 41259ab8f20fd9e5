"""The witness of pytest, loaded by `-p` before any conftest file."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH109, PTH119, PTH123

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
    stranger = rollout_witness.stranger()
    phases = {}
    told = []
    kept = []

    def complain(what):
        if not told:
            told.append(what)
            tell(t="problem", what=what)

    def implementations(config):
        # Files conftest.py may come in while tests are collected; they are the environment's own.
        found = {}
        for name in watched_hooks:
            hooks = getattr(config.hook, name).get_hookimpls()
            found[name] = [
                each.function
                for each in hooks
                if os.path.basename(str(getattr(each.plugin, "__file__", ""))) != "conftest.py"
            ]
        return found

    watched_hooks = (
        "pytest_runtest_protocol",
        "pytest_runtest_setup",
        "pytest_runtest_call",
        "pytest_pyfunc_call",
        "pytest_runtest_makereport",
        "pytest_runtest_logreport",
        "pytest_report_teststatus",
    )

    def check():
        name = broken()
        if name is not None:
            complain("“" + name + "” was replaced while the tests ran")
        for config, before, profile in kept:
            if implementations(config) != before:
                complain("code under test put itself into pytest")
            if sys.getprofile() is not profile:
                complain("code under test watched the tests with a profiler")

    def from_pytest():
        caller = stranger()
        if caller is not None:
            complain("“" + os.path.basename(caller) + "” wrote results of its own")

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
        from_pytest()
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

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(session):
        kept.append((session.config, implementations(session.config), sys.getprofile()))

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(config):
        from_pytest()
        tell(t="end")

    return {name: hook for name, hook in locals().items() if name.startswith("pytest_")}


globals().update(_make())
