import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../../src/domain/ApiError.ts"
import * as WritePermit from "../../../src/runtime/process/WritePermit.ts"
import * as Doors from "../../support/service/Doors.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** The features over a network that fails, and a separate client that reads the database directly. */
const setUp = Effect.gen(function* () {
  const url = new URL(Redacted.value(yield* TestDatabase.migrated))
  const eyes = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 }))
  const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const context = yield* Layer.build(
    Layer.provideMerge(Doors.layer, TestDatabase.processLayer(Redacted.make(url.href)))
  )
  const run = Effect.provide(context)
  return { proxy, run, look: Effect.provide(eyes) }
})

/** The answer is the same for every address, and comes before the work. */
const asynchronous = "verification that is sent again"

const gone = ApiError.of("invalid_credentials", "the key was revoked")

const quiet = Effect.provideService(References.MinimumLogLevel, "None")
const live = { timeout: 120_000 }

describe("Whatever is written without an entity, src/runtime/README.md#one-writer", () => {
  it.live(
    "is written by no process that has lost the journal",
    () =>
      Effect.gen(function* () {
        const { look, run } = yield* setUp
        const [free, of] = [yield* run(Doors.subject), yield* run(Doors.subject)]
        // Each door changes the database while this process owns the journal, which shows that the test sees its
        // writes.
        for (const [name, door] of Object.entries(Doors.all)) {
          const before = yield* look(Doors.contents)
          const exit = yield* Effect.exit(run(door(free)))
          expect(Exit.isSuccess(exit), `${name}: ${String(exit)}`).toBe(true)
          if (name === asynchronous) yield* Effect.sleep("300 millis")
          expect(yield* look(Doors.contents), name).not.toStrictEqual(before)
        }
        yield* look(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE journal_owner SET epoch = epoch + 1`))
        const before = yield* look(Doors.contents)
        for (const [name, door] of Object.entries(Doors.all)) {
          const exit = yield* Effect.exit(Effect.timeout(run(door(of)), "10 seconds"))
          if (name !== asynchronous) expect(Exit.isFailure(exit), name).toBe(true)
          expect(yield* look(Doors.contents), name).toStrictEqual(before)
        }
      }).pipe(Effect.scoped, quiet),
    live
  )

  it.live(
    "is written by no request that has lost the right to write",
    () =>
      Effect.gen(function* () {
        const { look, run } = yield* setUp
        const of = yield* run(Doors.subject)
        for (const [name, door] of Object.entries(Doors.all)) {
          const before = yield* look(Doors.contents)
          const permit: WritePermit.Permit = { check: Effect.succeed(gone), isUsed: false }
          const exit = yield* Effect.exit(Effect.provideService(run(door(of)), WritePermit.WritePermit, permit))
          const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : null
          expect(error instanceof WritePermit.WriteRefused ? error.error : error, name).toBe(gone)
          expect(permit.isUsed, name).toBe(false)
          expect(yield* look(Doors.contents), name).toStrictEqual(before)
          // Work that has begun is brought to its end, so the right is asked for once.
          const used = { ...permit, isUsed: true }
          const done = yield* Effect.exit(Effect.provideService(run(door(of)), WritePermit.WritePermit, used))
          expect(Exit.isSuccess(done), `${name}: ${String(done)}`).toBe(true)
          if (name === asynchronous) yield* Effect.sleep("300 millis")
        }
      }).pipe(Effect.scoped, quiet),
    live
  )

  for (const arrives of [true, false])
    it.live(
      arrives
        ? "is done when the answer to its COMMIT was lost"
        : "is not there when its COMMIT never arrived and it failed",
      () =>
        Effect.gen(function* () {
          const { look, proxy, run } = yield* setUp
          const of = yield* run(Doors.subject)
          for (const [name, door] of Object.entries(Doors.all)) {
            if (name === asynchronous) continue
            const before = yield* look(Doors.contents)
            const losses = proxy.losses()
            proxy.lose({ text: "COMMIT", arrives, by: "cut" })
            const exit = yield* Effect.exit(run(door(of)))
            expect(proxy.losses(), name).toBe(losses + 1)
            const after = yield* look(Doors.contents)
            if (arrives) expect(Exit.isSuccess(exit), `${name}: ${String(exit)}`).toBe(true)
            if (Exit.isSuccess(exit)) expect(after, name).not.toStrictEqual(before)
            else expect(after, name).toStrictEqual(before)
          }
        }).pipe(Effect.scoped, quiet),
      live
    )
})
