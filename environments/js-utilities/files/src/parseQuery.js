export function parseQuery (query) {
  throw new Error('not written yet')
}
