export function wrapText (text, width) {
  throw new Error('not written yet')
}
