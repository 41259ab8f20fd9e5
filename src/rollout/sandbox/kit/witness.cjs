// Reports to rollout what a test runner finds, each line signed with a key that is read once and then gone.
const { closeSync, constants, existsSync, openSync, readFileSync, readSync, writeSync } = require('node:fs')
const { createHash, createHmac } = require('node:crypto')
const { basename, dirname, join, relative } = require('node:path')

// Code under test may share this process, so what is used here is held from the start.
const { apply } = Reflect
const { parse, stringify } = JSON
const { entries, freeze, getOwnPropertySymbols, getPrototypeOf } = Object
const { alloc, from } = Buffer
const { update, digest } = createHmac('sha256', '').constructor.prototype
const { update: updateHash, digest: digestHash } = createHash('sha256').constructor.prototype
const TEST = /[.-](test|spec)\.|(^|[/])(__)?tests?(__)?[/]/

// What signs is handed the key by a part of Node's that anybody can get hold of.
const signer = createHmac('sha256', '')
for (const symbol of getOwnPropertySymbols(signer)) {
  if (typeof signer[symbol]?.init === 'function') freeze(getPrototypeOf(signer[symbol]))
}

function sign (key, text) {
  return apply(digest, apply(update, createHmac('sha256', key), [text]), ['hex'])
}

// A key is not to lie in the memory that small buffers share.
function readKey (descriptor) {
  const buffer = alloc(4096)
  return buffer.subarray(0, readSync(descriptor, buffer))
}

// Tells events, one a line, each signed together with the line before.
function teller (key, descriptor) {
  let before = ''
  return function tell (event) {
    const text = stringify({ __proto__: null, ...event })
    before = sign(key, before + text)
    const line = from(`${before} ${text}\n`)
    for (let start = 0; start < line.length;) start += writeSync(descriptor, line, start)
  }
}

function openReport () {
  const folder = process.env.ROLLOUT_WITNESS
  if (!folder) return null
  let key, report
  try {
    const pipe = openSync(`${folder}/key`, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      key = readKey(pipe)
    } finally {
      closeSync(pipe)
    }
    report = openSync(`${folder}/report`, 'w')
  } catch {
    return null
  }
  return key.length === 0 ? null : teller(key, report)
}

// The files laid down by nobody but the environment, with their digests.
const trusted = []
try {
  trusted.push(...entries(parse(readFileSync(join(__dirname, 'trusted.json'), 'utf8'))))
} catch {}

// Which of them are tests, which not to be written or read by code under test, and what the agent wrote.
let kinds = {}
try {
  kinds = parse(readFileSync(join(__dirname, 'watched.json'), 'utf8'))
} catch {}

// The folder that they lie in. A command such as “cd part && npm test” starts the runner further down.
function findRoot () {
  let root = process.cwd()
  let most = 0
  for (let folder = root; ; folder = dirname(folder)) {
    const count = trusted.filter(([name]) => existsSync(join(folder, name))).length
    if (count > most) [root, most] = [folder, count]
    if (folder === dirname(folder)) return root
  }
}

const root = findRoot()

function digestOf (name) {
  try {
    return apply(digestHash, apply(updateHash, createHash('sha256'), [readFileSync(join(root, name))]), ['hex'])
  } catch {
    return null
  }
}

// What was built before the tests were started may be another than was laid down, but for the tests.
const watched = trusted
  .filter(([name, was]) => /\.(?:[cm]?[jt]sx?|snap)$/.test(name) && (TEST.test(name) || digestOf(name) === was))
  .map(([name, was]) => ({ name, was, always: !name.endsWith('.snap') }))

// The programs among these that are not as they were, and the snapshots of one file of tests if they are not.
function changed (file) {
  const found = []
  const snapshots = join(dirname(file), '__snapshots__', `${basename(file)}.snap`)
  for (let at = 0; at < watched.length; at++) {
    const { name, was, always } = watched[at]
    if ((always || name === snapshots) && digestOf(name) !== was) found[found.length] = name
  }
  return found
}

const inProject = (path) => relative(root, path)

module.exports = { changed, digestOf, inProject, kinds, openReport, readKey, root, sign, teller, trusted }
