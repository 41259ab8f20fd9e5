// The witness of Jest, a reporter.
const { changed, inProject, openReport } = require('./witness.cjs')

const tell = openReport()
const OUTCOMES = { passed: 'passed', failed: 'failed' }

module.exports = class Witness {
  onRunStart () {
    tell?.({ t: 'begin', runner: 'jest', version: '' })
  }

  // Code that an earlier file of tests ran may have written over this one.
  onTestFileStart (test) {
    for (const name of changed(inProject(test.path))) {
      tell?.({ t: 'problem', what: `“${name}” was changed while the tests ran` })
    }
  }

  onTestResult (test, result) {
    const file = inProject(test.path)
    this.onTestFileStart(test)
    if (result.testExecError) tell?.({ t: 'problem', what: `“${file}” cannot be run` })
    for (const each of result.testResults) {
      const name = [...each.ancestorTitles, each.title].join(' > ')
      tell?.({ t: 'test', name, file, outcome: OUTCOMES[each.status] ?? 'skipped' })
    }
  }

  onRunComplete (contexts, results) {
    if (results.wasInterrupted) tell?.({ t: 'problem', what: 'the run was interrupted' })
    if (results.numRuntimeErrorTestSuites > 0) tell?.({ t: 'problem', what: 'a file of tests cannot be run' })
    tell?.({ t: 'end' })
  }
}
