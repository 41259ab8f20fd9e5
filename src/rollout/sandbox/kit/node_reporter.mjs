// The witness of node:test, a reporter: it runs in the process that starts the test files, and relays what theirs tell.
import children from './node_children.cjs'
import files from './node_files.cjs'
import tests from './node_tests.cjs'
import witness from './witness.cjs'

const tell = witness.openReport()
const isAlone = /--(?:experimental-)?test-isolation[= ]none/.test(process.execArgv.join(' '))

// What the process of a test file told, and how it ended.
function relay ({ file, endedWell, told }) {
  const name = witness.inProject(file)
  if (told === null) return tell({ t: 'problem', what: `something other than node:test wrote to the report of “${name}”` })
  for (const event of told) if (['doubt', 'problem', 'test'].includes(event.t)) tell(event)
  if (!endedWell) tell({ t: 'problem', what: `“${name}” did not end well` })
  else if (!told.some((event) => event.t === 'end')) tell({ t: 'problem', what: `the report of “${name}” ends in the middle` })
}

export default async function * report (events) {
  tell?.({ t: 'begin', runner: 'node', version: process.version })
  const listen = tell !== null && isAlone ? tests.listener(tell) : null
  for await (const { type, data } of events) listen?.(type, data)
  if (tell === null) return
  if (isAlone) tell({ t: 'doubt', what: 'Node ran the tests and the code in one process of its own (“--test-isolation=none”)' })
  for (const child of await children.all()) relay(child)
  for (const name of files.touched()) tell({ t: 'problem', what: `“${name}” was written over while the tests ran` })
  tell({ t: 'end' })
}
