// The witness of Jest, a reporter.
const { relative } = require('node:path')
const openReport = require('./witness.cjs')

const tell = openReport()
const OUTCOMES = { passed: 'passed', failed: 'failed' }

module.exports = class Witness {
  onRunStart () {
    tell?.({ t: 'begin', runner: 'jest', version: '' })
  }

  onTestResult (test, result) {
    const file = relative(process.cwd(), test.path)
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
