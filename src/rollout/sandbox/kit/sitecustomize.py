"""The witness of unittest: Python loads this at its start, before any code under test."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors

import sys

import rollout_witness


def _watch(tell):
    import unittest
    import unittest.case
    import unittest.main
    import unittest.result
    import unittest.runner
    import unittest.suite

    broken = rollout_witness.seal(unittest.case, unittest.suite)
    tell(t="begin", runner="unittest", version=sys.version.split()[0])
    told = []

    def check():
        name = broken()
        if name is not None and not told:
            told.append(name)
            tell(t="problem", what="“" + name + "” was replaced while the tests ran")

    class Result(unittest.runner.TextTestResult):
        def startTestRun(self):
            self.outcomes = {}
            super().startTestRun()

        def startTest(self, test):
            self.outcomes = getattr(self, "outcomes", {})
            self.outcomes[test.id()] = "unknown"
            super().startTest(test)

        def _note(self, test, outcome):
            self.outcomes = getattr(self, "outcomes", {})
            if self.outcomes.get(test.id()) != "failed":
                self.outcomes[test.id()] = outcome

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
            tell(t="test", name=test.id(), outcome=self.outcomes.get(test.id(), "unknown"))
            super().stopTest(test)

    unittest.runner.TextTestRunner.resultclass = Result
    run = unittest.runner.TextTestRunner.run

    def watched_run(self, test):
        tell(t="tests", names=[each.id() for each in flatten(test)])
        result = run(self, test)
        check()
        tell(t="end")
        return result

    def flatten(suite):
        for each in suite:
            if isinstance(each, unittest.suite.TestSuite):
                yield from flatten(each)
            elif each is not None:
                yield each

    unittest.runner.TextTestRunner.run = watched_run


_tell = rollout_witness.open_report()
rollout_witness.take_path_back()
if _tell is not None:
    _watch(_tell)
    del _tell
