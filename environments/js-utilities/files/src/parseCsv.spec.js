import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { parseCsv } from './index.js'

spec('parseCsv', 'reads rows and fields', () => {
  assert.deepEqual(parseCsv('a,b\r\n1,2\n3,4'), [['a', 'b'], ['1', '2'], ['3', '4']])
})

spec('parseCsv', 'reads quoted fields', () => {
  assert.deepEqual(parseCsv('"Holm, Ida","say ""hi""","two\nlines"\n'), [['Holm, Ida', 'say "hi"', 'two\nlines']])
})

spec('parseCsv', 'tells an empty text from an empty line', () => {
  assert.deepEqual(parseCsv(''), [])
  assert.deepEqual(parseCsv('\na,\n'), [[''], ['a', '']])
})

spec('parseCsv', 'refuses stray quotes', () => {
  assert.throws(() => parseCsv('"open'), SyntaxError)
  assert.throws(() => parseCsv('"a"b,c'), SyntaxError)
})
