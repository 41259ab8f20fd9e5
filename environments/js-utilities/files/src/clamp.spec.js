import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { clamp } from './index.js'

spec('clamp', 'stays within the bounds', () => {
  assert.deepEqual([-1, 0, 5, 10, 11].map((n) => clamp(n, 0, 10)), [0, 0, 5, 10, 10])
})

spec('clamp', 'refuses a range that is none', () => {
  assert.throws(() => clamp(1, 2, 1), RangeError)
})
