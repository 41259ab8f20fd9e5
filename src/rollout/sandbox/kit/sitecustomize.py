"""The witness of unittest: Python loads this at its start, before any code under test."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors

import sys

import rollout_equal
import rollout_files
import rollout_library
import rollout_witness


def _watch(writer):
    import unittest
    import unittest.case
    import unittest.loader
    import unittest.main
    import unittest.mock
    import unittest.result
    import unittest.runner
    import unittest.suite

    class Result(unittest.runner.TextTestResult):
        def startTestRun(self):
            self.outcomes = {}
            super().startTestRun()

        def startTest(self, test):
            self.outcomes = getattr(self, "outcomes", {})
            self.outcomes[test.id()] = "unknown", ""
            super().startTest(test)

        def _note(self, test, outcome):
            self.outcomes = getattr(self, "outcomes", {})
            if self.outcomes.get(test.id(), ("", ""))[0] != "failed":
                error = sys.exc_info()[1]
                by = origin(error) if isinstance(error, unittest.SkipTest) else skipped.get(test.id(), "")
                self.outcomes[test.id()] = outcome, by

        def addSuccess(self, test):
            self._note(test, "passed")
            super().addSuccess(test)

        def addError(self, test, error):
            if isinstance(test, unittest.case.TestCase):
                self._note(test, "failed")
            else:
                tell(t="problem", what="“" + test.id() + "” failed")
            super().addError(test, error)

        def addFailure(self, test, error):
            self._note(test, "failed")
            super().addFailure(test, error)

        def addSkip(self, test, reason):
            self._note(test, "skipped")
            super().addSkip(test, reason)

        def addExpectedFailure(self, test, error):
            self._note(test, "xfailed")
            super().addExpectedFailure(test, error)

        def addUnexpectedSuccess(self, test):
            self._note(test, "failed")
            super().addUnexpectedSuccess(test)

        def addSubTest(self, test, subtest, error):
            if error is not None:
                self._note(test, "failed")
            super().addSubTest(test, subtest, error)

        def stopTest(self, test):
            check()
            outcome, by = self.outcomes.get(test.id(), ("unknown", ""))
            tell(t="test", name=test.id(), outcome=outcome, by=by)
            super().stopTest(test)

    unittest.runner.TextTestRunner.resultclass = Result
    run = unittest.runner.TextTestRunner.run

    def watched_run(self, test):
        expect_untouched()
        tell(t="tests", names=[each.id() for each in flatten(test)])
        result = run(self, test)
        check()
        expect_untouched()
        tell(t="end")
        return result

    def expect_untouched():
        name = laid.touched()
        if name is not None:
            tell(t="problem", what="“" + name + "” was written over while the tests ran")

    def flatten(suite):
        for each in suite:
            if isinstance(each, unittest.suite.TestSuite):
                yield from flatten(each)
            elif each is not None:
                yield each

    def make_skipped(name, error, suite):
        # A file that raises SkipTest while it is imported.
        skipped["unittest.loader.ModuleSkipped." + name] = origin(error)
        return make(name, error, suite)

    unittest.runner.TextTestRunner.run = watched_run
    make, unittest.loader._make_skipped_test = unittest.loader._make_skipped_test, make_skipped
    # In the package, main is a class.
    main = sys.modules["unittest.main"]
    homes = (unittest.case, unittest.suite, unittest.result, unittest.runner, unittest.loader, main)
    laid = rollout_files.Laid()
    asks = rollout_witness.stranger(laid, [main.TestProgram.runTests.__code__])
    is_on, skipped, kept = [], {}, sys.getprofile()
    tell = rollout_witness.voice(writer, lambda: asks() if is_on else None)
    tell(t="begin", runner="unittest", version=sys.version.split()[0])
    is_on.append(True)
    origin, stands_in = rollout_witness.origins(laid), rollout_library.library(laid)
    equal = rollout_equal.equalities(laid)
    rollout_witness.watch(tell, laid)
    check_case = unittest.TestCase()

    def check():
        rollout_witness.tell_replaced(tell, stands_in())
        rollout_witness.tell_equal(tell, equal())
        name = broken() or broken_result()
        if name is not None:
            tell(t="problem", what="“" + name + "” was replaced while the tests ran")
        wrong = rollout_witness.broken_assertion(check_case)
        if wrong is not None:
            tell(t="problem", what="“unittest.case.TestCase." + wrong + "” was replaced while the tests ran")
        if sys.getprofile() is not kept:
            tell(t="problem", what="code under test watched the tests with a profiler")

    broken, broken_result = rollout_witness.seal(*homes), rollout_witness.seal_class(Result)


_writer = rollout_witness.open_report()
rollout_witness.take_path_back()
if _writer is not None:
    _watch(_writer)
del _writer
