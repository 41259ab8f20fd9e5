"""The witness of pytest, loaded by `-p` before any conftest file."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH119, PTH123

import hashlib
import os
import sys
import unittest
import unittest.case
import unittest.mock

import _pytest.assertion
import _pytest.assertion.rewrite
import _pytest.assertion.util
import _pytest.config
import _pytest.main
import _pytest.nodes
import _pytest.outcomes
import _pytest.python
import _pytest.reports
import _pytest.runner
import _pytest.skipping
import _pytest.unittest
import pluggy
import pluggy._callers
import pytest
import rollout_equal
import rollout_files
import rollout_library
import rollout_witness

_SEALED = (
    *(unittest.case, _pytest.assertion, _pytest.assertion.rewrite, _pytest.assertion.util, _pytest.config),
    *(_pytest.main, _pytest.nodes, _pytest.outcomes, _pytest.python, _pytest.reports, _pytest.runner),
    *(_pytest.skipping, _pytest.unittest, pluggy._callers),
)


def _make():
    writer = rollout_witness.open_report()
    rollout_witness.take_path_back()
    os.environ.pop("PYTEST_ADDOPTS", None)
    if writer is None:
        return {}
    # Where raises, approx, hooks and frames of errors are depends on the versions of pytest and pluggy.
    homes = {
        sys.modules[each.__module__]
        for each in (
            pytest.raises,
            pytest.approx,
            pytest.ExceptionInfo,
            pluggy.PluginManager,
            pluggy.HookCaller,
        )
    }
    seals = []
    laid = rollout_files.Laid()
    from_start = rollout_witness.stranger(laid)
    from_session = rollout_witness.stranger(laid, [_pytest.main.wrap_session.__code__])
    session_is_on = []
    tell = rollout_witness.voice(writer, lambda: (from_session if session_is_on else from_start)())
    rollout_witness.watch(tell, laid)
    origin, stands_in = rollout_witness.origins(laid), rollout_library.library(laid)
    equal = rollout_equal.equalities(laid)
    skips = (pytest.skip.Exception, unittest.SkipTest, pytest.xfail.Exception)
    phases, raised, ran, codes, files = {}, {}, set(), {}, {}
    kept = []
    check_case = unittest.TestCase()

    def complain(what):
        tell(t="problem", what=what)

    def implementations(config):
        # Files conftest.py may come in while tests are collected; they are the environment's own.
        found = {}
        for name in watched_hooks:
            hooks = getattr(config.hook, name).get_hookimpls()
            found[name] = [
                (each.function, getattr(each.function, "__code__", None))
                for each in hooks
                if not is_own_conftest(each.plugin)
            ]
        return found

    def is_own_conftest(plugin):
        path = str(getattr(plugin, "__file__", ""))
        return os.path.basename(path) == "conftest.py" and path in laid.trusted

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
        name = next(filter(None, (broken() for broken in seals)), None)
        if name is not None:
            complain("“" + name + "” was replaced while the tests ran")
        rollout_witness.tell_replaced(tell, stands_in())
        rollout_witness.tell_equal(tell, equal())
        wrong = rollout_witness.broken_assertion(check_case)
        if wrong is not None:
            complain("“unittest.case.TestCase." + wrong + "” was replaced while the tests ran")
        for config, before, profile in kept:
            if implementations(config) != before:
                complain("code under test put itself into pytest")
            if sys.getprofile() is not profile:
                complain("code under test watched the tests with a profiler")

    def path_of(node):
        return os.path.relpath(str(getattr(node, "path", None) or node.fspath), laid.root)

    def code_of(item):
        function = getattr(item, "obj", None)
        return getattr(getattr(function, "__func__", function), "__code__", None)

    def blame(report):
        # Where a skip or an expected failure comes from; that of a mark comes from nowhere.
        error = raised.get((report.nodeid, report.when))
        while isinstance(error, skips):
            if found := origin(error):
                return found
            # That of a TestCase is raised anew.
            error = error.__context__
        return ""

    @pytest.hookimpl
    def pytest_load_initial_conftests(early_config):
        # pytest has patched itself by now, and no file conftest.py has been read.
        seals.append(rollout_witness.seal(*dict.fromkeys([*_SEALED, *homes])))

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
        tell(t="file", path=path_of(collector), sha256=digest)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(collector):
        outcome = yield
        report = outcome.get_result()
        if not isinstance(collector, (pytest.Module, pytest.Class)):
            return
        if report.outcome == "skipped":
            error = getattr(getattr(report, "call", None), "excinfo", None)
            tell(t="skip", path=path_of(collector), by=origin(error and error.value))
        elif report.outcome == "passed" and type(collector).__module__ != "_pytest.doctest":
            names = sorted({getattr(each, "originalname", None) or each.name for each in report.result})
            tell(t="collected", path=path_of(collector), node=collector.nodeid, names=names)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(session):
        if hasattr(session, "items"):
            tell(t="tests", names=[item.nodeid for item in session.items])
            for item in session.items:
                codes[item.nodeid], files[item.nodeid] = code_of(item), path_of(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(report):
        if report.failed:
            tell(t="problem", what="“" + (report.nodeid or "tests") + "” cannot be collected")

    def note(item, when, outcome):
        if outcome.excinfo is not None:
            raised[item.nodeid, when] = outcome.excinfo[1]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(item):
        note(item, "setup", (yield))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(item):
        before, now = codes.get(item.nodeid), code_of(item)
        if before is not None and now is not None and now is not before:
            complain("“" + item.nodeid + "” was replaced while the tests ran")
        note(item, "call", (yield))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_pyfunc_call(pyfuncitem):
        ran.add(pyfuncitem.nodeid)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if call.excinfo is not None:
            raised.setdefault((item.nodeid, report.when), call.excinfo.value)
        if (
            type(item) is pytest.Function
            and report.when == "call"
            and item.nodeid not in ran
            and report.passed
        ):
            complain("“" + item.nodeid + "” passed without having been run")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(report):
        seen = phases.setdefault(report.nodeid, [])
        error = raised.get((report.nodeid, report.when))
        if report.passed and error is not None and not isinstance(error, skips):
            complain("“" + report.nodeid + "” failed, and was reported as passed")
        if report.failed:
            seen.append(("failed", ""))
        elif report.skipped:
            seen.append(("xfailed" if hasattr(report, "wasxfail") else "skipped", blame(report)))
        elif report.when == "call":
            seen.append(("passed", ""))
        if report.when == "teardown":
            for outcome in ("failed", "xfailed", "skipped", "passed"):
                found = [by for each, by in seen if each == outcome]
                if found:
                    break
            else:
                outcome, found = "unknown", [""]
            tell(
                t="test", name=report.nodeid, file=files.get(report.nodeid, ""), outcome=outcome, by=found[0]
            )
            for kept_by in (phases, raised):
                for each in [each for each in kept_by if each == report.nodeid or each[0] == report.nodeid]:
                    del kept_by[each]
            ran.discard(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(nodeid, location):
        check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(excrepr):
        tell(t="problem", what="pytest broke down")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(session, exitstatus):
        check()
        name = laid.touched()
        if name is not None:
            complain("“" + name + "” was written over while the tests ran")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(session):
        session_is_on.append(True)
        kept.append((session.config, implementations(session.config), sys.getprofile()))

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(config):
        tell(t="end")

    return {name: hook for name, hook in locals().items() if name.startswith("pytest_")}


globals().update(_make())
