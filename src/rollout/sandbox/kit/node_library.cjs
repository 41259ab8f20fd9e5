// Tells when built-ins that tests assert and load with are others than at the start.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root, trusted } = require('./witness.cjs')

const LOOKED_AT = {
  JSON: ['parse', 'stringify'],
  Object: ['is', 'keys', 'entries', 'values', 'fromEntries', 'getPrototypeOf', 'getOwnPropertyNames', 'hasOwn'],
  Array: ['isArray', 'from', 'of'],
  Number: ['isNaN', 'isFinite', 'isInteger', 'isSafeInteger', 'parseFloat', 'parseInt'],
  Math: ['abs', 'min', 'max', 'round', 'floor', 'ceil', 'trunc', 'sqrt', 'pow', 'hypot', 'sign']
}

const kept = []
for (const [owner, names] of Object.entries(LOOKED_AT)) {
  for (const name of names) kept.push({ owner: globalThis[owner], title: owner, name, value: globalThis[owner][name] })
}

// A test may put its own in their place.
function isTestsOwn (title) {
  const plain = new RegExp(`(?:method|spyOn|stub|assign|defineProperty|set)\\(\\s*${title}\\b|\\b${title}\\.\\w+\\s*=[^=>]`)
  return trusted.some(([name]) => {
    if (!/\.[cm]?[jt]sx?$/.test(name)) return false
    try { return plain.test(readFileSync(join(root, name), 'utf8')) } catch { return false }
  })
}

// The name of a built-in that is another now, or null.
function replaced () {
  const found = kept.find(({ owner, title, name, value }) => owner[name] !== value && !isTestsOwn(title))
  return found ? `${found.title}.${found.name}` : null
}

module.exports = { replaced }
