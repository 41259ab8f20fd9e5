import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { pluralize } from './index.js'

spec('pluralize', 'counts', () => {
  assert.equal(pluralize(1, 'file'), '1 file')
  assert.equal(pluralize(0, 'file'), '0 files')
  assert.equal(pluralize(3, 'Haus', 'Häuser'), '3 Häuser')
})
