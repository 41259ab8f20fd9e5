export function formatBytes (bytes) {
  throw new Error('not written yet')
}
