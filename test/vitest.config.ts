import { defineConfig } from "vitest/config"
import LongestFirst from "./LongestFirst.ts"

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts", "scripts/examples/**/*.test.ts"],
    exclude: ["test/interop/**", "test/crash/long/**"],
    reporters: ["default", new URL("./CountReporter.ts", import.meta.url).pathname],
    setupFiles: [new URL("./support/PropertySeed.ts", import.meta.url).pathname],
    globalSetup: [new URL("./support/GlobalDatabase.ts", import.meta.url).pathname],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2
  }
})
