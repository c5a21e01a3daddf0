import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Idempotency, inFlightLimit } from "../../../src/runtime/idempotency/Idempotency.ts"
import * as Slot from "../../../src/runtime/idempotency/Slot.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const slot = (idempotencyKey: string, body = "{}", owner = "key-1") =>
  Slot.make({
    owner,
    credential: "c",
    idempotencyKey,
    method: "POST",
    path: "/v1/calls",
    body: Buffer.from(body)
  })

const rendered = { status: 404, body: '{"error":{}}' }

const codeOf = (claim: ReturnType<Idempotency["Service"]["claim"]>) =>
  Effect.map(Effect.flip(claim), (rejected) => rejected.code)

const subjects = {
  "in memory": Layer.suspend(() => Idempotency.layerMemory([])),
  "on the journal": Idempotency.layer.pipe(
    // There is no heartbeat in the day that the test's clock skips: its statement would be late by that clock, and the
    // connection would be made anew, thousands of times.
    Layer.provide(JournalWriter.layer({ partitions: [0], onLost: () => {}, heartbeatMs: 172_800_000 })),
    Layer.provide(TestDatabase.layer)
  )
}

for (const [name, subject] of Object.entries(subjects))
  layer(subject)(`Idempotency ${name}, guide/idempotency.md#what-a-repetition-gets`, (it) => {
    it.effect("gives the place to the first, and its stored response to the next", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        expect(yield* idempotency.claim(slot("first"))).toBeNull()
        yield* idempotency.remember(slot("first"), rendered)
        idempotency.release(slot("first"))
        expect(yield* idempotency.claim(slot("first"))).toEqual(rendered)
        expect(yield* idempotency.claim(slot("first"))).toEqual(rendered)
      })
    )

    it.effect("gives the stored response to many that ask for it at once", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        yield* idempotency.remember(slot("at once"), rendered)
        const claims = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => slot("at once", n === 7 ? "[]" : "{}")),
          (one) =>
            Effect.match(idempotency.claim(one), {
              onSuccess: (stored) => stored?.status,
              onFailure: ({ code }) => code
            }),
          { concurrency: "unbounded" }
        )
        expect(claims).toEqual(Array.from({ length: 20 }, (_, n) => (n === 7 ? "idempotency_conflict" : 404)))
      })
    )

    it.effect("answers conflict while the first runs", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        yield* idempotency.claim(slot("runs"))
        expect(yield* codeOf(idempotency.claim(slot("runs")))).toBe("conflict")
        expect(yield* codeOf(idempotency.claim(slot("runs", "[]")))).toBe("idempotency_conflict")
        expect(yield* idempotency.claim(slot("runs", "{}", "key-2"))).toBeNull()
      })
    )

    it.effect("answers idempotency_conflict when the body is another one", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        yield* idempotency.remember(slot("other"), rendered)
        expect(yield* codeOf(idempotency.claim(slot("other", "[]")))).toBe("idempotency_conflict")
        expect(yield* idempotency.claim(slot("other"))).toEqual(rendered)
      })
    )

    it.effect("runs again when the first left no record", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        yield* idempotency.claim(slot("gone"))
        idempotency.release(slot("gone"))
        expect(yield* idempotency.claim(slot("gone"))).toBeNull()
      })
    )

    it.effect("forgets a response after 24 hours, and stores the next one in its place", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        yield* idempotency.remember(slot("old"), rendered)
        yield* TestClock.adjust("23 hours")
        expect(yield* idempotency.claim(slot("old"))).toEqual(rendered)
        yield* TestClock.adjust("1 hour")
        expect(yield* idempotency.claim(slot("old"))).toBeNull()
        yield* idempotency.remember(slot("old"), { ...rendered, status: 409 })
        idempotency.release(slot("old"))
        expect(yield* idempotency.claim(slot("old"))).toMatchObject({ status: 409 })
      })
    )

    it.effect("refuses with 503 when too many requests with a key run", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        const many = Array.from({ length: inFlightLimit }, (_, index) => slot(`many ${index}`))
        const claim = (one: Slot.Slot) => Effect.exit(idempotency.claim(one))
        yield* Effect.forEach(many, claim, { concurrency: "unbounded", discard: true })
        const refused = yield* Effect.flip(idempotency.claim(slot("one too many")))
        expect(refused.code).toBe("service_unavailable")
        idempotency.release(slot("many 0"))
        expect(yield* idempotency.claim(slot("one more"))).toBeNull()
      })
    )
  })
