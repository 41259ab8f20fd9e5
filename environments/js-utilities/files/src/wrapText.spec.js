import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { wrapText } from './index.js'

spec('wrapText', 'breaks at spaces', () => {
  assert.equal(wrapText('the quick  brown fox jumps', 10), 'the quick\nbrown fox\njumps')
})

spec('wrapText', 'keeps line breaks', () => {
  assert.equal(wrapText('one two\n\nthree', 20), 'one two\n\nthree')
})

spec('wrapText', 'breaks words that are too long', () => {
  assert.equal(wrapText('an extraordinarily long', 8), 'an\nextraord\ninarily\nlong')
})

spec('wrapText', 'counts code points', () => {
  assert.equal(wrapText('🦊🦊🦊 🦊🦊', 3), '🦊🦊🦊\n🦊🦊')
})

spec('wrapText', 'wants a width', () => {
  for (const width of [0, -1, 2.5, Number.NaN]) assert.throws(() => wrapText('x', width), RangeError)
})
