// Keeps the process of a test file honest: code under test that ends it with status 0 makes it end with another, and
// the functions that tests assert with stay what they are.
const { NODE_TEST_CONTEXT, ROLLOUT_GUARDED } = process.env
if (ROLLOUT_GUARDED || NODE_TEST_CONTEXT) {
  // Programs that the tests start are none of our business.
  delete process.env.NODE_OPTIONS
  const really = process.reallyExit.bind(process)
  let asked = false
  let over = false
  process.on('exit', () => { over = true })
  const exit = process.exit.bind(process)
  process.exit = function (status) {
    asked = true
    return exit(status)
  }
  const refuse = (status) => {
    if (status || (over && !asked)) return really(status)
    process.stderr.write('rollout: the tests were ended by a call of process.exit.\n')
    return really(97)
  }
  Object.defineProperty(process, 'reallyExit', { value: refuse, writable: false, configurable: false })
  const assert = require('node:assert')
  for (const each of [assert, assert.strict]) Object.freeze(each)
  if (NODE_TEST_CONTEXT) Object.freeze(require('node:test'))
}
