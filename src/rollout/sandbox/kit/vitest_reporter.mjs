// The witness of Vitest, a reporter.
import witness from './witness.cjs'

const tell = witness.openReport()

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

  onTestModuleQueued (module) {
    this.expectUnchanged(module)
  }

  onTestModuleCollected (module) {
    this.expectUnchanged(module)
  }

  // Code that an earlier file of tests ran may have written over this one.
  expectUnchanged (module) {
    for (const name of witness.changed(witness.inProject(module.moduleId ?? ''))) {
      tell?.({ t: 'problem', what: `“${name}” was changed while the tests ran` })
    }
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
      const path = witness.inProject(file.filepath ?? file.moduleId ?? '')
      this.expectUnchanged({ moduleId: file.filepath ?? file.moduleId })
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
