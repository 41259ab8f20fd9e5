// The witness of node:test, a reporter: it runs in the process that starts the test files, not in theirs.
import { resolve } from 'node:path'
import files from './node_files.cjs'
import witness from './witness.cjs'

const tell = witness.openReport()

export default async function * report (events) {
  if (tell === null) {
    for await (const _ of events); // eslint-disable-line
    return
  }
  tell({ t: 'begin', runner: 'node', version: process.version })
  const path = []
  for await (const { type, data } of events) {
    if (type === 'test:stderr') {
      const said = /^rollout: (.{1,200}) may have read (.{1,200})\.$/m.exec(data.message)
      if (said !== null) tell({ t: 'doubt', what: `“${said[1]}” seems to have read “${said[2]}” while the tests ran` })
      const started = /^rollout: (.{1,200}) started a program by (\w{1,20})\.$/m.exec(data.message)
      if (started !== null) tell({ t: 'doubt', what: `“${started[1]}” started a program, which can read what is hidden`, allow: `“${started[2]}”` })
    } else if (type === 'test:start') {
      path.length = data.nesting
      path[data.nesting] = data.name
    } else if (type === 'test:pass' || type === 'test:fail') {
      const names = [...path.slice(0, data.nesting), data.name]
      const file = data.file ? witness.inProject(data.file) : ''
      if (data.nesting === 0 && data.file && resolve(data.name) === data.file) {
        // A file as a whole is reported like a test where it has none, or did not end well.
        if (type === 'test:fail') tell({ t: 'problem', what: `“${file}” did not end well` })
        continue
      }
      const failed = type === 'test:fail' && data.todo === undefined
      const outcome = failed ? 'failed' : data.skip !== undefined || data.todo !== undefined ? 'skipped' : 'passed'
      tell({ t: 'test', name: names.join(' > '), file, suite: data.details?.type === 'suite', outcome, level: data.nesting })
    }
  }
  for (const name of files.touched()) tell({ t: 'problem', what: `“${name}” was written over while the tests ran` })
  tell({ t: 'end' })
}
