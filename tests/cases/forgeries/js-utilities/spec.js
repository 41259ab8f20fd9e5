import { test } from 'node:test'
export function spec (name, title) { test(`${name}: ${title}`, () => {}) }
