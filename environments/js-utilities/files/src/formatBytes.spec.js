import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { formatBytes } from './index.js'

spec('formatBytes', 'shows small numbers whole', () => {
  assert.deepEqual([0, 1, 1023].map(formatBytes), ['0 B', '1 B', '1023 B'])
})

spec('formatBytes', 'has one decimal from KiB on', () => {
  assert.deepEqual([1024, 1536, 1572864, 5 * 1024 ** 4].map(formatBytes), ['1.0 KiB', '1.5 KiB', '1.5 MiB', '5.0 TiB'])
})

spec('formatBytes', 'never shows 1024.0', () => {
  assert.equal(formatBytes(1024 ** 2 - 1), '1.0 MiB')
  assert.equal(formatBytes(1024 ** 5), '1024.0 TiB')
})

spec('formatBytes', 'keeps the sign', () => {
  assert.equal(formatBytes(-2048), '-2.0 KiB')
})

spec('formatBytes', 'wants a finite number', () => {
  for (const value of ['1', null, Number.NaN, Infinity]) assert.throws(() => formatBytes(value), TypeError)
})
