export function parseCsv (text) {
  throw new Error('not written yet')
}
