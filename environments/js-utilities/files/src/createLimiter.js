export function createLimiter (limit) {
  throw new Error('not written yet')
}
