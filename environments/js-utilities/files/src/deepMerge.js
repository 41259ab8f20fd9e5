export function deepMerge (base, patch) {
  throw new Error('not written yet')
}
