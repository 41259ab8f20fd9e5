import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { compareVersions } from './index.js'

spec('compareVersions', 'follows the order of the standard', () => {
  const ordered = [
    '0.9.9', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11',
    '1.0.0-rc.1', '1.0.0', 'v1.2.0', '1.10.0', '10.0.0'
  ]
  for (const [i, a] of ordered.entries()) {
    for (const [j, b] of ordered.entries()) assert.equal(compareVersions(a, b), Math.sign(i - j), `${a} and ${b}`)
  }
})

spec('compareVersions', 'ignores build data', () => {
  assert.equal(compareVersions('1.0.0+linux', 'v1.0.0+20250314'), 0)
})

spec('compareVersions', 'refuses what is no version', () => {
  for (const text of ['1.0', '1.0.0.0', '01.0.0', '1.0.0-', '1.0.0-a..b', '1.0.0-01', 'latest', '', 100]) {
    assert.throws(() => compareVersions(text, '1.0.0'), TypeError, String(text))
  }
})
