export function clamp (value, low, high) {
  if (low > high) throw new RangeError(`no range: ${low} to ${high}`)
  return Math.min(Math.max(value, low), high)
}
