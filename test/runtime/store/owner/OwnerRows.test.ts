import { expect, layer } from "@effect/vitest"
import { Effect, References } from "effect"
import { SqlClient } from "effect/sql"
import * as OwnerRows from "../../../../src/runtime/store/owner/OwnerRows.ts"
import * as OwnerSession from "../../../../src/runtime/store/owner/OwnerSession.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("The statements of an owner", (it) => {
  it.effect("the session of an owner that has given a sign of life ends when it hangs, and no other one does", () =>
    Effect.gen(function* () {
      const session = yield* OwnerSession.make(yield* SqlClient.SqlClient)
      const limit = Effect.map(session.run("SHOW idle_session_timeout", [], 5_000), ([row]) => row)
      const epochs = yield* OwnerRows.raise(session, [0], yield* OwnerRows.look(session, [0]))
      const epoch = epochs?.get(0) ?? 0
      expect(yield* OwnerRows.lock(session, [0])).toBe(true)
      expect(yield* limit).toEqual({ idle_session_timeout: "0" })
      const beat = { partition: 0, time: 1, taken: 0, recovering: false }
      expect(yield* OwnerRows.beats(session, [{ ...beat, epoch: epoch + 1 }], false)).toEqual([])
      expect(yield* limit).toEqual({ idle_session_timeout: "0" })
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`INSERT INTO journal_owner (partition, epoch) VALUES (0, 0) ON CONFLICT DO NOTHING`
      )
      expect(yield* OwnerRows.beats(session, [{ ...beat, epoch }], false)).toEqual([0])
      expect(yield* limit).toEqual({ idle_session_timeout: "45s" })
    }).pipe(Effect.scoped)
  )

  it.effect("two processes whose sessions a pooler makes one do not both get the lock, and its owner keeps it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const shared = Effect.succeed(yield* sql.reserve)
      const make = Effect.provideService(OwnerSession.make(sql), OwnerSession.OwnerConnection, shared)
      const [one, other] = [yield* make, yield* make]
      expect(yield* OwnerRows.lock(one, [7, 8])).toBe(true)
      expect(yield* OwnerRows.lock(other, [8, 9])).toBe(false)
      const elsewhere = yield* OwnerSession.make(sql)
      expect(yield* OwnerRows.lock(elsewhere, [7])).toBe(false)
      expect(yield* OwnerRows.lock(elsewhere, [9])).toBe(true)
      yield* one.run("SELECT pg_advisory_unlock_all()", [], 5_000)
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
