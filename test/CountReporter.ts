import type { Reporter, TestModule } from "vitest/node"

/** Closes a run with the line `N passed, N failed`; a file that does not even load counts as one failure. */
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
    process.once("exit", () => {
      process.stdout.write(`${skipped} skipped\n${passed} passed, ${failed} failed\n`)
    })
  }
}
