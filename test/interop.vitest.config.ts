import { defineConfig } from "vitest/config"

/** Interop tests with real peers; `npm run interop` installs those. One file after the other: they share two cores. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/interop/**/*.test.ts"],
    globalSetup: [new URL("./support/GlobalDatabase.ts", import.meta.url).pathname],
    reporters: ["default", new URL("./CountReporter.ts", import.meta.url).pathname],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false
  }
})
