// Reports to rollout what a test runner finds, each line signed with a key that is read once and then gone.
const fs = require('node:fs')
const { createHmac } = require('node:crypto')

module.exports = function openReport () {
  const folder = process.env.ROLLOUT_WITNESS
  if (!folder) return null
  let key, report
  try {
    const pipe = fs.openSync(`${folder}/key`, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    try {
      const buffer = Buffer.alloc(4096)
      key = Buffer.from(buffer.subarray(0, fs.readSync(pipe, buffer)))
    } finally {
      fs.closeSync(pipe)
    }
    report = fs.openSync(`${folder}/report`, 'w')
  } catch {
    return null
  }
  if (key.length === 0) return null
  const write = fs.writeSync
  let before = ''
  return function tell (event) {
    const text = JSON.stringify(event)
    before = createHmac('sha256', key).update(before + text).digest('hex')
    const line = Buffer.from(`${before} ${text}\n`)
    for (let from = 0; from < line.length;) from += write(report, line, from)
  }
}
