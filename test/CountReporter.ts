import type { Reporter, TestModule } from "vitest/node"

/** Tests of a run by how they ended. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The last lines of a run. */
export const print = ({ failed, passed, skipped }: Counts): void => {
  if (skipped > 0) console.log(`${skipped} skipped`)
  console.log(`${passed} passed, ${failed} failed`)
}

/** Prints where the time of a run went: the seconds of all files by project, and the ten slowest files. */
const printTimes = (modules: ReadonlyArray<TestModule>): void => {
  const seconds = (module: TestModule): number => module.diagnostic().duration / 1000
  const byProject = Object.entries(Object.groupBy(modules, ({ project }) => project.name)).map(
    ([name, files = []]) => `${name} ${files.reduce((sum, file) => sum + seconds(file), 0).toFixed(0)}`
  )
  const slowest = modules.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, 10)
  console.log(`seconds of test files: ${byProject.join(", ")}; the slowest:`)
  for (const file of slowest) console.log(`  ${seconds(file).toFixed(1).padStart(6)}  ${file.relativeModuleId}`)
}

/** Reports to `npm test` how many tests passed, or prints it. A file that does not load counts as one failure. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>) {
    let passed = 0
    let failed = errors.length
    let skipped = 0
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const state = test.result().state
        if (state === "passed") passed++
        else if (state === "failed") failed++
        else skipped++
      }
      if (module.state() === "failed" && [...module.children.allTests("failed")].length === 0) failed++
    }
    if (modules.length > 10) printTimes(modules)
    const counts: Counts = { passed, failed, skipped }
    if (process.send === undefined) process.once("exit", () => print(counts))
    else process.send(counts)
  }
}
