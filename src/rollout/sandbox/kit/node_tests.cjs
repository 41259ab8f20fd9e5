// What becomes of the tests of a file, from the events of node:test.
const events = require('node:events')
const { inProject } = require('./witness.cjs')

const { apply, defineProperty, ownKeys } = Reflect
const { freeze, getPrototypeOf } = Object
const call = Function.prototype.call.bind(Function.prototype.call)
const { includes, startsWith } = String.prototype

// Takes each event and tells what it comes to.
function listener (tell) {
  const names = { __proto__: null }
  return function listen (type, data) {
    const { file, name, nesting } = data
    const full = nesting > 0 ? `${names[nesting - 1]} > ${name}` : name
    if (type === 'test:start') names[nesting] = full
    else if (type === 'test:diagnostic' && nesting === 0) {
      const isLate = call(startsWith, data.message, 'Error: ') && call(includes, data.message, 'generated asynchronous activity')
      if (isLate) tell({ t: 'problem', what: 'an error came after the test that it is of, or of no test' })
    } else if (type === 'test:pass' || type === 'test:fail') {
      const failed = type === 'test:fail' && (data.todo === undefined || data.todo === false)
      const outcome = failed ? 'failed' : data.skip !== undefined || data.todo !== undefined ? 'skipped' : 'passed'
      const where = file ? inProject(file) : ''
      // What comes after all tests of a file is reported in its name.
      if (nesting === 0 && name === file) {
        if (failed) tell({ t: 'problem', what: `“${where}” did not end well` })
      } else tell({ t: 'test', name: full, file: where, suite: data.details?.type === 'suite', outcome, level: nesting })
    }
  }
}

// The stream that all results in this process go through.
function findStream () {
  const { test } = require('node:test')
  const { init } = events
  let stream
  events.init = function (...rest) {
    if (this.constructor.name === 'TestsStream') stream = this
    return apply(init, this, rest)
  }
  try {
    // The runner makes the stream before it looks at the options, which are none that a test can have.
    test('none', { concurrency: 'none' })
  } catch {} finally {
    events.init = init
  }
  return stream
}

// Whether the top of the file still waits for something, so that not all of its tests may be declared.
function isWaiting () {
  const listeners = process.listeners('exit')
  for (let at = 0; at < listeners.length; at++) if (listeners[at].name === 'handleProcessExit') return true
  return false
}

// Listens to the tests of this process from the start, to what node:test itself says of them and to nobody else.
function watchTests (tell, callers) {
  const listen = listener(tell)
  const stream = findStream()
  const prototype = getPrototypeOf(stream ?? {})
  const emit = ownKeys(prototype).find((key) => key.description === 'kEmitMessage')
  if (emit === undefined) throw new Error(`rollout cannot watch the tests of Node ${process.version}.`)
  for (const key of ownKeys(prototype)) {
    const original = prototype[key]
    const watched = function (type, data) {
      const found = callers()
      let at = 0
      while (found[at] === 'node:internal/test_runner/tests_stream') at++
      if (found[at] === 'node:internal/test_runner/test') {
        listen(type, data)
        if (type === 'test:plan' && data.nesting === 0 && !isWaiting()) tell({ t: 'end' })
      }
      return apply(original, stream, [type, data])
    }
    defineProperty(stream, key, { value: key === emit ? watched : original, writable: false, configurable: false })
  }
  freeze(prototype)
}

module.exports = { listener, watchTests }
