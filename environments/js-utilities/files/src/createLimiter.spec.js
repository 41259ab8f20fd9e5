import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { createLimiter } from './index.js'

const tick = () => new Promise((resolve) => setImmediate(resolve))

spec('createLimiter', 'runs no more than the limit at once', async () => {
  const run = createLimiter(2)
  let running = 0
  let most = 0
  const job = async () => {
    most = Math.max(most, ++running)
    await tick()
    running--
  }
  await Promise.all(Array.from({ length: 7 }, () => run(job)))
  assert.equal(most, 2)
  assert.equal(running, 0)
})

spec('createLimiter', 'starts jobs in order and hands results back', async () => {
  const run = createLimiter(1)
  const started = []
  const results = await Promise.all(['a', 'b', 'c'].map((name) => run(async () => {
    started.push(name)
    await tick()
    return name.toUpperCase()
  })))
  assert.deepEqual(started, ['a', 'b', 'c'])
  assert.deepEqual(results, ['A', 'B', 'C'])
})

spec('createLimiter', 'survives jobs that fail', async () => {
  const run = createLimiter(1)
  const broken = run(() => { throw new Error('no') })
  const rejected = run(async () => { throw new Error('later') })
  const fine = run(() => 42)
  await assert.rejects(broken, /no/)
  await assert.rejects(rejected, /later/)
  assert.equal(await fine, 42)
})

spec('createLimiter', 'wants a positive limit', () => {
  for (const limit of [0, -1, 1.5, '2']) assert.throws(() => createLimiter(limit), RangeError)
})
