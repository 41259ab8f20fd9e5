import assert from 'node:assert/strict'
import { spec } from '../spec.js'
import { slugify } from './index.js'

spec('slugify', 'joins words with single hyphens', () => {
  assert.equal(slugify('  Hello,   World! '), 'hello-world')
  assert.equal(slugify('rock & roll -- 1969'), 'rock-roll-1969')
})

spec('slugify', 'spells accented letters out', () => {
  assert.equal(slugify('Crème brûlée à Liège'), 'creme-brulee-a-liege')
  assert.equal(slugify('Łódź, Ærø, Straße, œuvre, Þór, Đakovo'), 'lodz-aero-strasse-oeuvre-thor-dakovo')
})

spec('slugify', 'drops apostrophes', () => {
  assert.equal(slugify("Don't l’été"), 'dont-lete')
})

spec('slugify', 'may come to nothing', () => {
  assert.equal(slugify(' – 日本 – '), '')
})
