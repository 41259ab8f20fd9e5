// The witness of Vitest, a reporter.
import { relative } from 'node:path'
import openReport from './witness.cjs'

const tell = openReport()

function * tests (tasks, names) {
  for (const task of tasks ?? []) {
    if (task.type === 'suite') yield * tests(task.tasks, [...names, task.name])
    else yield { task, name: [...names, task.name].join(' > ') }
  }
}

export default class Witness {
  onInit () {
    tell?.({ t: 'begin', runner: 'vitest', version: '' })
  }

  onFinished (files = [], errors = []) {
    this.finish(files, errors)
  }

  onTestRunEnd (modules, errors) {
    this.finish(modules.map((module) => module.task ?? module), errors)
  }

  finish (files, errors) {
    if (this.over) return
    this.over = true
    for (const file of files) {
      const path = relative(process.cwd(), file.filepath ?? file.moduleId ?? '')
      const all = [...tests(file.tasks, [])]
      if (file.result?.state === 'fail' && !all.some(({ task }) => task.result?.state === 'fail')) {
        tell?.({ t: 'problem', what: `“${path}” cannot be run` })
      }
      for (const { task, name } of all) {
        const state = task.result?.state
        const outcome = state === 'pass' ? 'passed' : state === 'fail' ? 'failed' : 'skipped'
        tell?.({ t: 'test', name, file: path, outcome })
      }
    }
    for (const error of errors ?? []) tell?.({ t: 'problem', what: `outside of the tests: ${error?.message ?? error}` })
    tell?.({ t: 'end' })
  }
}
