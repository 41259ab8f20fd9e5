import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { deepMerge } from './index.js'

spec('deepMerge', 'merges plain objects and replaces the rest', () => {
  assert.deepEqual(
    deepMerge({ a: { x: 1, y: [1, 2] }, b: 1 }, { a: { y: [3], z: null }, c: 2 }),
    { a: { x: 1, y: [3], z: null }, b: 1, c: 2 }
  )
})

spec('deepMerge', 'leaves the base alone where the patch says undefined', () => {
  assert.deepEqual(deepMerge({ a: 1 }, { a: undefined }), { a: 1 })
})

spec('deepMerge', 'shares nothing and changes nothing', () => {
  const base = { a: { list: [1] } }
  const patch = { b: { list: [{ n: 1 }] } }
  const merged = deepMerge(base, patch)
  merged.a.list.push(2)
  merged.b.list[0].n = 2
  assert.deepEqual([base, patch], [{ a: { list: [1] } }, { b: { list: [{ n: 1 }] } }])
})

spec('deepMerge', 'takes other objects as they are', () => {
  const day = new Date(0)
  assert.equal(deepMerge({ day: { x: 1 } }, { day }).day, day)
})

spec('deepMerge', 'cannot be used to change prototypes', () => {
  const merged = deepMerge({}, JSON.parse('{"__proto__": {"evil": 1}, "constructor": {"prototype": {"evil": 1}}, "ok": 1}'))
  assert.deepEqual(Object.keys(merged), ['ok'])
  assert.equal({}.evil, undefined)
})
