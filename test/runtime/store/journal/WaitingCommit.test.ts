import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import { type Committed, empty } from "../../../../src/runtime/store/journal/Journal.ts"
import * as WaitingCommit from "../../../../src/runtime/store/journal/WaitingCommit.ts"

const waiting = (): WaitingCommit.WaitingCommit => ({
  commit: empty,
  wanted: () => true,
  done: Deferred.makeUnsafe<Committed | null>(),
  slow: 0,
  isHandedOver: false,
  isWritten: false
})

const answer = { missing: null, homes: null, balances: null, endpoints: null, handed: null }

describe("A commit that is written", () => {
  it.live("is told so in the next turn of the event loop, when the statement behind it is on its way", () =>
    Effect.gen(function* () {
      const entries = [waiting(), waiting()]
      WaitingCommit.succeedSoon(entries, answer)
      expect(entries.map(({ done }) => Deferred.isDoneUnsafe(done))).toStrictEqual([false, false])
      for (const { done } of entries) expect(yield* Deferred.await(done)).toStrictEqual({ balanceCents: null })
    })
  )

  it.live("is told nothing else when its writer dies meanwhile; the others of the writer die", () =>
    Effect.gen(function* () {
      const [written, unwritten] = [waiting(), waiting()]
      WaitingCommit.succeedSoon([written], answer)
      WaitingCommit.die([written, unwritten], new Error("of the writer"))
      expect(Exit.isSuccess(yield* Effect.exit(Deferred.await(written.done)))).toBe(true)
      expect(Exit.hasDies(yield* Effect.exit(Deferred.await(unwritten.done)))).toBe(true)
    })
  )
})
