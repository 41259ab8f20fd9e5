import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { parseQuery } from './index.js'

spec('parseQuery', 'reads keys and values', () => {
  assert.deepEqual({ ...parseQuery('?q=tea+pot&lang=de') }, { q: 'tea pot', lang: 'de' })
  assert.deepEqual({ ...parseQuery('') }, {})
})

spec('parseQuery', 'collects what comes again', () => {
  assert.deepEqual({ ...parseQuery('a=1&b=x&a=2&a=3') }, { a: ['1', '2', '3'], b: 'x' })
})

spec('parseQuery', 'decodes UTF-8 and keeps broken escapes', () => {
  assert.deepEqual({ ...parseQuery('st%C3%A4dte=K%C3%B6ln&p=100%&x=%E4') }, { städte: 'Köln', p: '100%', x: '%E4' })
})

spec('parseQuery', 'takes odd parts as they are', () => {
  assert.deepEqual({ ...parseQuery('a&&b=&c=1=2') }, { a: '', b: '', c: '1=2' })
})

spec('parseQuery', 'has no prototype', () => {
  const parsed = parseQuery('__proto__=1&toString=2')
  assert.equal(Object.getPrototypeOf(parsed), null)
  assert.deepEqual(Object.keys(parsed), ['__proto__', 'toString'])
})
