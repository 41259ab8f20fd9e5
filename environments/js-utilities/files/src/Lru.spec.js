import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { Lru } from './index.js'

spec('Lru', 'forgets what was unused for the longest time', () => {
  const cache = new Lru(2).set('a', 1).set('b', 2)
  assert.equal(cache.get('a'), 1)
  cache.set('c', 3)
  assert.deepEqual([cache.get('b'), cache.get('a'), cache.get('c')], [undefined, 1, 3])
  assert.equal(cache.size, 2)
})

spec('Lru', 'counts setting again as use', () => {
  const cache = new Lru(2).set('a', 1).set('b', 2).set('a', 9).set('c', 3)
  assert.deepEqual(cache.keys(), ['a', 'c'])
  assert.equal(cache.get('a'), 9)
})

spec('Lru', 'looks without touching', () => {
  const cache = new Lru(2).set('a', undefined).set('b', 2)
  assert.equal(cache.has('a'), true)
  cache.set('c', 3)
  assert.equal(cache.has('a'), false)
})

spec('Lru', 'deletes', () => {
  const cache = new Lru(1).set('a', 1)
  assert.deepEqual([cache.delete('a'), cache.delete('a'), cache.size], [true, false, 0])
})

spec('Lru', 'wants room', () => {
  for (const capacity of [0, -3, 1.5]) assert.throws(() => new Lru(capacity), RangeError)
})
