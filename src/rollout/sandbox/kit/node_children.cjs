// Follows the processes of the test files, from the one that starts them. Each is given a key on a socket of its own, on
// which it tells what becomes of its tests, signed with that key. What it prints may come from the code under test.
const { ChildProcess } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { resolve } = require('node:path')
const { readKey, sign, teller } = require('./witness.cjs')

const SOCKET = 3
const { spawn } = ChildProcess.prototype
const children = []

// What a process told, or null where not all of it is its own.
function readTold (key, data) {
  const events = []
  let before = ''
  for (const line of data.split('\n').slice(0, -1)) {
    const [mark, text] = [line.slice(0, 64), line.slice(65)]
    if (mark !== sign(key, before + text)) return null
    before = mark
    events.push(JSON.parse(text))
  }
  return data === '' || data.endsWith('\n') ? events : null
}

function follow (child, file) {
  const key = randomBytes(32)
  const socket = child.stdio[SOCKET]
  const chunks = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(key)
  return new Promise((resolve) => child.once('close', (status, signal) => resolve({
    file,
    endedWell: status === 0 && signal === null,
    told: readTold(key, Buffer.concat(chunks).toString('utf8'))
  })))
}

function followChildren () {
  ChildProcess.prototype.spawn = function (options) {
    const { args, cwd, envPairs, stdio } = options
    const isOfTests = stdio?.length === SOCKET && envPairs.some((each) => each.startsWith('NODE_TEST_CONTEXT='))
    if (!isOfTests) return Reflect.apply(spawn, this, [options])
    const status = Reflect.apply(spawn, this, [{ ...options, stdio: [...stdio, 'pipe'] }])
    if (status === 0) children.push(follow(this, resolve(cwd ?? '.', args.at(-1))))
    return status
  }
}

// What became of every process of a test file: { file, endedWell, told }.
const all = () => Promise.all(children)

// The other end, in such a process. The key can be read once.
const openSocket = () => teller(readKey(SOCKET), SOCKET)

module.exports = { all, followChildren, openSocket }
