import { defineConfig } from "vitest/config"
import * as MemoryFolder from "./support/MemoryFolder.ts"
import * as Projects from "./Projects.ts"

const here = (path: string) => new URL(path, import.meta.url).pathname
const files = Projects.find()

// The workers and the processes that tests start inherit it.
const memory = process.env["TMPDIR"] === undefined ? MemoryFolder.find() : null
if (memory !== null) process.env["TMPDIR"] = memory

const common = {
  root: here(".."),
  setupFiles: [here("./support/EndsOnSignal.ts"), here("./support/PropertySeed.ts")],
  // A test that takes a second on a quiet machine may take half a minute on a busy one.
  testTimeout: 120_000,
  hookTimeout: 300_000
}
const waiting = {
  globalSetup: [here("./support/GlobalDatabase.ts")],
  maxWorkers: 4,
  sequence: { groupOrder: 1 }
}

/**
 * The kinds of test files, which `Projects.ts` distinguishes. All but the last share a process for each worker, with
 * the modules that it has loaded. Those with a database and those that start processes wait for most of their time, so
 * four of them run at once on two processors, after the others, which compute.
 */
export default defineConfig({
  test: {
    root: here(".."),
    reporters: ["minimal", here("./CountReporter.ts")],
    // A failed test is shown by its line alone; `--silent=false` shows its logs too.
    silent: true,
    onStackTrace: (_, { file }) => !file.includes("node_modules"),
    maxWorkers: 2,
    projects: [
      { test: { ...common, name: "pure", include: [...files.pure], isolate: false } },
      { test: { ...common, name: "local", include: [...files.local], isolate: false } },
      { test: { ...common, ...waiting, name: "database", include: [...files.database], isolate: false } },
      { test: { ...common, ...waiting, name: "process", include: [...files.process], isolate: false } },
      { test: { ...common, ...waiting, name: "heap", include: [...files.heap] } }
    ]
  }
})
