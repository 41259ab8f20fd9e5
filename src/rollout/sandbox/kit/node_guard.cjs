// Keeps the process of a test file honest: code under test that ends it with status 0 makes it end with another, the
// functions that tests assert with stay what they are, and nothing but Node gets hold of the tests themselves.
const { NODE_TEST_CONTEXT, ROLLOUT_WITNESS } = process.env
if (NODE_TEST_CONTEXT) {
  // Programs that the tests start are none of our business.
  delete process.env.NODE_OPTIONS
  const { sep } = require('node:path')
  const { isMainThread } = require('node:worker_threads')
  const { callers, isNode } = require('./node_callers.cjs')
  const really = process.reallyExit.bind(process)
  const print = process._rawDebug
  const tell = isMainThread ? require('./node_children.cjs').openSocket() : null
  const { replaced } = require('./node_library.cjs')
  process.on('exit', () => {
    const name = replaced()
    if (name === null) return
    print(`rollout: code under test reached for ${name}.`)
    really(97)
  })
  // A process that comes to its end by itself has no need of this.
  const refuse = (status) => {
    if (status) return really(status)
    print('rollout: the tests were ended by a call of process.exit.')
    return really(97)
  }
  Object.defineProperty(process, 'reallyExit', { value: refuse, writable: false, configurable: false })

  // Files that are as the environment has them may do what they like.
  const witness = require('./witness.cjs')
  const here = witness.root + sep
  const trusted = new Set(witness.trusted.map(([name]) => here + name))
  const files = require('./node_files.cjs')
  const changed = files.other()
  if (changed !== null) {
    // A test file of another process may have run code that wrote over this one.
    print(`rollout: code under test reached for ${changed}.`)
    really(97)
  }
  const { defineProperty } = Object
  const call = Function.prototype.call.bind(Function.prototype.call)
  const apply = Reflect.apply
  const { has } = Set.prototype
  const { startsWith, slice } = String.prototype

  const isAgents = (name) => call(startsWith, name, here) && !call(has, trusted, name)

  function asker () {
    const found = callers()
    for (let i = 0; i < found.length; i++) {
      if (!isNode(found[i])) return isAgents(found[i]) ? call(slice, found[i], here.length) : null
    }
    return null
  }

  // Who has a file opened, however much code of the environment's is between: its name, whether it is just being
  // imported, and whether a test is among the callers.
  function opener () {
    const found = callers()
    let name = null
    let imports = false
    let tested = false
    for (let i = 0; i < found.length && !tested; i++) {
      if (call(has, files.tests, found[i])) tested = true
      else if (isAgents(found[i])) {
        name ??= call(slice, found[i], here.length)
        imports = i + 1 < found.length && call(startsWith, found[i + 1], 'node:internal/modules/')
      }
    }
    return name === null ? null : { name, imports, tested }
  }

  // Who starts a program: the name of a file of the agent's, or what has no other code behind it; null for others.
  const starters = new Set((witness.kinds.starters ?? []).map((name) => here + name))
  function starter () {
    const found = callers()
    let nearest = null
    for (let i = 0; i < found.length && !call(has, files.tests, found[i]); i++) {
      if (isNode(found[i])) continue
      nearest ??= found[i]
      if (call(has, starters, nearest)) return null
      if (isAgents(found[i])) return call(slice, found[i], here.length)
    }
    return found.every(isNode) ? 'code under test' : null
  }

  // What has been done cannot be taken back, so this is the end of the process.
  function end (name, what) {
    print(`rollout: ${name} reached for ${what}.`)
    really(97)
  }

  // What is told holds, whatever becomes of what is printed.
  function doubt (what) {
    if (tell === null) end('code under test', 'what the tests are made of')
    tell({ t: 'doubt', ...what })
  }

  function forbid (what) {
    const name = asker()
    if (name !== null) end(name, what)
  }

  const assert = require('node:assert')
  for (const each of [assert, assert.strict]) Object.freeze(each)
  const genuine = new Map([['assert', assert], ['assert/strict', assert.strict]])
  genuine.set('node:test', Object.freeze(require('node:test')))
  if (isMainThread) require('./node_tests.cjs').watchTests(tell, callers)

  // A property of all objects that is worked out is one of a test as well.
  const common = new Set([Object, Array, Function, Promise, Error, Map, Set, require('node:events')].map((each) => each.prototype))
  const watched = (owner, name, accessor) => {
    const original = owner[name]
    defineProperty(owner, name, {
      value: function (target, ...rest) {
        const object = this !== undefined && this !== owner && name.startsWith('__') ? this : target
        if (object === Object.prototype || (common.has(object) && accessor(rest))) forbid('what all objects share')
        return apply(original, this, [target, ...rest])
      },
      writable: true,
      configurable: true
    })
  }
  const isAccessor = (said) => Boolean(said) && (typeof said.get === 'function' || typeof said.set === 'function')
  watched(Object, 'defineProperty', ([, said]) => isAccessor(said))
  watched(Reflect, 'defineProperty', ([, said]) => isAccessor(said))
  watched(Object, 'defineProperties', ([all]) => Boolean(all) && Reflect.ownKeys(all).some((key) => isAccessor(all[key])))
  watched(Object, 'setPrototypeOf', () => true)
  watched(Reflect, 'setPrototypeOf', () => true)
  for (const name of ['__defineGetter__', '__defineSetter__']) {
    const original = Object.prototype[name]
    defineProperty(Object.prototype, name, {
      value: function (...rest) {
        if (common.has(this)) forbid('what all objects share')
        return apply(original, this, rest)
      },
      writable: true,
      configurable: true
    })
  }

  // Hooks of asynchronous work are handed the tests themselves.
  const hooks = require('node:async_hooks')
  for (const name of ['createHook', 'executionAsyncResource']) {
    const original = hooks[name]
    hooks[name] = function (...rest) {
      forbid(`async_hooks.${name}`)
      return apply(original, this, rest)
    }
  }
  Object.freeze(hooks.AsyncResource.prototype)

  // What modules are loaded with.
  const Module = require('node:module')
  const guarded = (owner, name, wrap) => {
    let current = wrap ? wrap(owner[name]) : owner[name]
    defineProperty(owner, name, {
      get: () => current,
      set: (value) => {
        forbid(`module.${name}`)
        current = value
      },
      enumerable: true,
      configurable: false
    })
  }
  guarded(Module, '_load', (load) => function (request, ...rest) {
    const plain = typeof request === 'string' && request !== 'node:test' ? request.replace(/^node:/, '') : request
    if (genuine.has(plain)) return genuine.get(plain)
    return apply(load, this, [request, ...rest])
  })
  for (const name of ['_resolveFilename', '_compile', '_cache', '_extensions']) {
    if (name in Module) guarded(Module, name)
  }
  guarded(Module.prototype, '_compile', (compile) => function (...rest) {
    // A module's own require is Node's, whatever another module does with it.
    const real = Module.prototype.require
    defineProperty(this, 'require', { value: function (id) { return apply(real, this, [id]) }, writable: false, configurable: false, enumerable: false })
    return apply(compile, this, rest)
  })
  for (const name of ['register', 'registerHooks', 'syncBuiltinESMExports']) {
    const original = Module[name]
    if (!original) continue
    Module[name] = function (...rest) {
      forbid(`module.${name}`)
      return apply(original, this, rest)
    }
  }
  for (const name of ['binding', '_linkedBinding', 'dlopen', 'kill', '_debugProcess', 'execve']) {
    const original = process[name]
    if (!original) continue
    process[name] = function (...rest) {
      forbid(`process.${name}`)
      return apply(original, this, rest)
    }
  }
  files.guardFiles({
    asks: opener,
    starter,
    forbid: end,
    doubt: (name, path) => doubt({ what: `“${name}” seems to have read “${path}” while the tests ran` }),
    doubtProgram: (name, module) => doubt({
      what: `“${name}” started a program, which can read what is hidden`,
      allow: `“${module}”`
    })
  })
  require('node:module').syncBuiltinESMExports()
} else if (ROLLOUT_WITNESS) {
  // How the files are before any test is started.
  require('./node_files.cjs')
  require('./node_children.cjs').followChildren()
}
