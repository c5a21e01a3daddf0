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
    const counts: Counts = { passed, failed, skipped }
    if (process.send === undefined) process.once("exit", () => print(counts))
    else process.send(counts)
  }
}
