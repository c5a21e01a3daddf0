import { execFileSync } from "node:child_process"
import { describe, expect, it } from "@effect/vitest"
import * as EventLoop from "../../../src/domain/fair/EventLoop.ts"

describe("How busy a thread is", () => {
  it("follows the share of each window in which it did not rest", () => {
    const shares = [0.9, 0.2, 0.6]
    const thread = EventLoop.make(() => shares.shift() ?? 0)
    expect([0, 10, 20, 39, 40].map(thread.isBusy)).toStrictEqual([true, true, false, false, true])
  })

  it("is seen of the thread that asks", () => {
    const script = `
      import * as EventLoop from ${JSON.stringify(new URL("../../../src/domain/fair/EventLoop.ts", import.meta.url))}
      const thread = EventLoop.make()
      await new Promise((done) => setTimeout(done, 300))
      const rested = thread.isBusy(performance.now())
      for (const until = performance.now() + 300; performance.now() < until;);
      // What the loop does in a turn is known when it has turned.
      await new Promise((done) => setImmediate(done))
      console.log(rested, thread.isBusy(performance.now()))`
    expect(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })).toBe(
      "false true\n"
    )
  })
})
