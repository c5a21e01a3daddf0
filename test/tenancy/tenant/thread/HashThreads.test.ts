import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Password from "../../../../src/tenancy/tenant/Password.ts"
import * as HashThreads from "../../../../src/tenancy/tenant/thread/HashThreads.ts"

const dies = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", ({ id, question }) => {
    if (question.password === "poison") throw new Error("poisoned")
    parentPort.postMessage({ id, type: "answer", answer: new Uint8Array([1]) })
  })`)}`
)

const salt = new Uint8Array(16).fill(7)
const hash = (password: string) => Password.hash(password, salt)

describe("Threads that hash passwords", () => {
  it.live("give the same hashes as Node's own, of many at once", () =>
    Effect.gen(function* () {
      const passwords = ["correct horse battery", "\u212bngstr\u00f6m", "a".repeat(200)]
      const own = yield* Effect.forEach(passwords, hash)
      const theirs = yield* Effect.forEach(passwords, hash, { concurrency: "unbounded" }).pipe(
        Effect.provide(HashThreads.layer)
      )
      expect(theirs).toEqual(own)
      expect(new Set(theirs).size).toBe(3)
    })
  )

  it.live("that die take what they had with them, and the next password gets a new one", () =>
    Effect.gen(function* () {
      const [poisoned, waiting] = yield* Effect.forEach(["poison", "behind it"], (one) => Effect.exit(hash(one)), {
        concurrency: "unbounded"
      })
      expect([poisoned?._tag, waiting?._tag]).toEqual(["Failure", "Failure"])
      expect(yield* hash("next")).toContain("scrypt$")
    }).pipe(Effect.provide(HashThreads.layerOf(1, dies)))
  )

  it.live("leave the event loop free", () =>
    Effect.gen(function* () {
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      yield* hash("long")
      clearInterval(timer)
      expect(turns).toBeGreaterThan(10)
    }).pipe(Effect.provide(HashThreads.layer))
  )
})
