// Keeps files that tests are made of from code under test: what it does to them, and what it reads in them unasked.
const fs = require('node:fs')
const children = require('node:child_process')
const cluster = require('node:cluster')
const workers = require('node:worker_threads')
const { basename, dirname, join, resolve, sep } = require('node:path')
const { fileURLToPath } = require('node:url')
const { promisify: { custom } } = require('node:util')
const { callers, isNode } = require('./node_callers.cjs')
const { digestOf, kinds, root, trusted } = require('./witness.cjs')

const { apply } = Reflect
const { isBuffer } = Buffer
const { readFileSync, realpathSync, statSync } = fs

const here = root + sep
const absolute = (names) => new Set((names ?? []).map((name) => here + name))
const tests = absolute(kinds.tests)
const guarded = absolute(kinds.guarded)
const secret = absolute(kinds.secret)
const names = new Set([...guarded, ...secret].map((path) => basename(path)))
// Where a sandbox has what was laid down from.
const original = join(dirname(__dirname), 'files') + sep
const isCode = (path) => /\.[cm]?[jt]sx?$/.test(path)
// Tests may have data of their own written, where everybody can see it.
const isData = (path) => tests.has(path) && !secret.has(path) && !isCode(path)

function signatureOf (path) {
  try {
    const { ino, ctimeMs, size } = statSync(path)
    return `${ino} ${ctimeMs} ${size}`
  } catch {
    return null
  }
}

const before = new Map([...guarded].filter((path) => !isData(path)).map((path) => [path, signatureOf(path)]))

// The guarded files that were written, moved or put back since this process began.
function touched () {
  return [...before].filter(([path, was]) => signatureOf(path) !== was).map(([path]) => path.slice(here.length))
}

// A guarded file that is no longer what was laid down, or null.
function other () {
  const found = trusted.find(([name, digest]) =>
    (isCode(name) || secret.has(here + name)) && digestOf(name) !== digest)
  return found ? found[0] : null
}

// The parts of all texts in what the agent wrote, and whether it looks for files in folders.
function wordsWritten () {
  const found = new Set()
  for (const name of kinds.written ?? []) {
    let text = ''
    try { text = readFileSync(here + name, 'utf8') } catch {}
    for (const [, , literal] of text.matchAll(/(["'`])(.*?)(?<!\\)\1/g)) {
      for (const part of literal.split(/[/\\\s]+/)) found.add(part)
    }
    if (/\b(?:readdir|glob|opendir)(?:Sync)?\b/.test(text)) found.lists = true
    if (/\bcwd\b|\bimport\.meta\b|\b__dirname\b/.test(text)) found.folders = true
  }
  return found
}

// The hidden programs that no test can have handed over: none of them speaks of it, nor it of itself.
function unspoken () {
  const text = (path) => { try { return readFileSync(path, 'utf8') } catch { return '' } }
  const all = [...tests].map((path) => [path, text(path)])
  return new Set([...secret].filter((path) => isCode(path) && all.every(([other, said]) => other === path
    ? !/\b__filename\b|\bimport\.meta\.filename\b|\(\s*import\.meta\.url\s*\)/.test(said)
    : !said.includes(basename(path).replace(/\.[^.]*$/, '')))))
}

// Wraps what opens, changes and hands on files, and what starts programs, which nothing watches. `asks` tells who calls:
// { name, imports, tested } or null; `starter` who starts a program, by name, or null.
function guardFiles ({ asks, starter, forbid, doubt, doubtProgram }) {
  const words = wordsWritten()
  const partsOf = (path) => path.slice(here.length).split(sep)
  const isNamed = (path) => partsOf(path)
    .every((part) => words.has(part) || (isCode(part) && words.has(part.replace(/\.[^.]*$/, ''))))
  const looksFor = (path) => words.lists && (words.folders || partsOf(path).slice(0, -1).every((part) => words.has(part)))

  function pathOf (value) {
    try {
      const path = isBuffer(value) ? value.toString() : value instanceof URL ? fileURLToPath(value) : value
      if (typeof path !== 'string') return null
      const whole = resolve(path)
      if (!names.has(basename(whole))) return whole
      const real = guarded.has(whole) || secret.has(whole) ? whole : realpathSync(whole)
      return real.startsWith(original) ? here + real.slice(original.length) : real
    } catch {
      return typeof value === 'string' ? resolve(value) : null
    }
  }

  // Hidden data that tests read themselves is what they expect; what they only hand over is there to be worked with.
  const secrets = unspoken()
  const expected = new Set()
  const worked = new Map()

  function read (path) {
    if (!secret.has(path)) return
    const asker = asks()
    const name = path.slice(here.length)
    if (asker === null) {
      if (!tests.has(callers().find((each) => !isNode(each)))) return
      expected.add(path)
      if (worked.has(path)) doubt(worked.get(path), name)
    } else if (asker.imports || isNamed(path)) forbid(asker.name, name)
    else if (secrets.has(path) || expected.has(path) || looksFor(path)) doubt(asker.name, name)
    else worked.set(path, asker.name)
  }

  function isImpostor (path) {
    if (!path.startsWith(here) || here.length === 1) return false
    if (path.slice(here.length).split(sep).includes('node_modules')) return true
    return basename(path) === 'package.json' && [...tests].some((each) => each.startsWith(dirname(path) + sep))
  }

  function write (path) {
    if (path === null) return
    const inside = guarded.has(path) ? [path] : [...guarded].filter((each) => each.startsWith(path + sep))
    if (inside.length === 0 && !isImpostor(path)) return
    const asker = asks()
    if (asker === null) return
    if (inside.length > 0 && inside.every(isData) && asker.tested && !isNamed(path)) return
    forbid(asker.name, path.slice(here.length))
  }

  // A folder that is made or written into holds what it did before.
  const writeFile = (path) => { if (guarded.has(path) || (path !== null && isImpostor(path))) write(path) }
  const opens = (path, flags) => {
    if (typeof flags === 'function') flags = 'r'
    const writes = typeof flags === 'number' ? (flags & 3) !== 0 : /[wa+]/.test(String(flags ?? 'r'))
    if (writes) writeFile(path)
    else read(path)
  }

  const looks = {
    readFile: ([path]) => read(path),
    createReadStream: ([path]) => read(path),
    openAsBlob: ([path]) => read(path),
    open: ([path], flags) => opens(path, flags),
    writeFile: ([path]) => writeFile(path),
    appendFile: ([path]) => writeFile(path),
    createWriteStream: ([path]) => writeFile(path),
    truncate: ([path]) => writeFile(path),
    mkdir: ([path]) => writeFile(path),
    chmod: ([path]) => writeFile(path),
    utimes: ([path]) => writeFile(path),
    unlink: ([path]) => write(path),
    rm: ([path]) => write(path),
    rmdir: ([path]) => write(path),
    rename: ([from, to]) => { write(from); write(to) },
    copyFile: ([from, to]) => { read(from); writeFile(to) },
    cp: ([from, to]) => { read(from); writeFile(to) },
    link: ([from, to]) => { read(from); write(from); writeFile(to) },
    symlink: ([from, to]) => { read(from); write(from); writeFile(to) }
  }
  for (const [name, look] of Object.entries(looks)) {
    for (const [owner, key] of [[fs, name], [fs, `${name}Sync`], [fs.promises, name]]) {
      const original = owner[key]
      if (typeof original !== 'function') continue
      const wrapped = function (...rest) {
        if (typeof rest[0] !== 'number') look([pathOf(rest[0]), pathOf(rest[1])], rest[1])
        return apply(original, this, rest)
      }
      Object.defineProperty(wrapped, 'name', { value: key })
      owner[key] = wrapped
    }
  }
  const allowed = new Set(kinds.allowed ?? [])
  function starts (module) {
    if (secret.size === 0 || allowed.has(module) || allowed.has(`node:${module}`)) return
    const name = starter()
    if (name !== null) doubtProgram(name, module)
  }

  for (const name of ['exec', 'execSync', 'execFile', 'execFileSync', 'spawn', 'spawnSync', 'fork']) {
    const wrap = (original) => function (...rest) {
      const said = rest.slice(0, 2).flat().filter((each) => typeof each === 'string').join(' ')
      const parts = new Set(said.split(/[\s"'`<>|;&()=/]+/))
      for (const path of secret) if (partsOf(path).every((part) => parts.has(part)) && asks() !== null) read(path)
      starts('child_process')
      return apply(original, this, rest)
    }
    const original = children[name]
    children[name] = wrap(original)
    if (original[custom]) Object.defineProperty(children[name], custom, { value: wrap(original[custom]) })
  }
  for (const [owner, name, module] of [[children.ChildProcess.prototype, 'spawn', 'child_process'], [cluster, 'fork', 'cluster']]) {
    const original = owner[name]
    if (typeof original !== 'function') continue
    owner[name] = function (...rest) {
      starts(module)
      return apply(original, this, rest)
    }
  }
  workers.Worker = class Worker extends workers.Worker {
    constructor (...rest) {
      starts('worker_threads')
      super(...rest)
    }
  }
}

module.exports = { guardFiles, other, tests, touched }
