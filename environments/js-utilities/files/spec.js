// Declares a test of one function. While pending.json lists the function, the test has to fail.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const pending = new Set(JSON.parse(readFileSync(new URL('./pending.json', import.meta.url), 'utf8')))

export function spec (name, title, body) {
  if (!pending.has(name)) {
    test(`${name}: ${title}`, body)
    return
  }
  test(`${name} is pending: ${title}`, async () => {
    await assert.rejects(async () => body(), `“${title}” passes, so take ${name} out of pending.json`)
  })
}
