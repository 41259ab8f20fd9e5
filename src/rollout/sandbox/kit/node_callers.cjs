// Tells which files those who called are in.
const { join } = require('node:path')
const { fileURLToPath } = require('node:url')
const { root } = require('./witness.cjs')

const { captureStackTrace } = Error
const { defineProperty, getOwnPropertyDescriptor } = Object
const call = Function.prototype.call.bind(Function.prototype.call)
const { startsWith } = String.prototype

// Who keeps this from being told is the code under test.
const UNKNOWN = [join(root, 'code under test')]

// The files of all callers but rollout's own, from the nearest on.
function callers () {
  const prepare = getOwnPropertyDescriptor(Error, 'prepareStackTrace')
  const limit = getOwnPropertyDescriptor(Error, 'stackTraceLimit')
  const held = {}
  try {
    defineProperty(Error, 'prepareStackTrace', { value: (_, sites) => sites, configurable: true, writable: true })
    defineProperty(Error, 'stackTraceLimit', { value: 100, configurable: true, writable: true })
    captureStackTrace(held, callers)
    const sites = held.stack
    const found = []
    for (let i = 0; i < sites.length; i++) {
      let name = sites[i].getFileName() || sites[i].getEvalOrigin()
      if (!name) continue
      if (call(startsWith, name, 'file://')) name = fileURLToPath(name)
      if (!call(startsWith, name, __dirname)) found[found.length] = name
    }
    return found
  } catch {
    return UNKNOWN
  } finally {
    if (prepare) defineProperty(Error, 'prepareStackTrace', prepare)
    else delete Error.prepareStackTrace
    if (limit) defineProperty(Error, 'stackTraceLimit', limit)
    else delete Error.stackTraceLimit
  }
}

const isNode = (name) => call(startsWith, name, 'node:')

module.exports = { callers, isNode }
