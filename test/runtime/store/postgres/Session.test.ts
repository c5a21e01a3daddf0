import type * as PgConnection from "@effect/sql-pg/PgConnection"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import * as Outage from "../../../../src/runtime/store/Outage.ts"
import { beginWriting, Session } from "../../../../src/runtime/store/postgres/Session.ts"

/** A session whose server answers every statement with this SQLSTATE. */
const refusing = (code: string): Session => {
  const cause = Object.assign(new Error("refused"), { code })
  const error = new SqlError({ reason: new UnknownError({ cause, message: "refused", operation: "query" }) })
  const pg = { query: () => Effect.fail(error) } as unknown as PgConnection.PgConnection
  return new Session(pg, { ask: (work) => work, ended: Effect.void, writing: null })
}

describe("A statement on a standby", () => {
  const cases: ReadonlyArray<readonly [text: string, code: string, isOutage: boolean]> = [
    [beginWriting, "0A000", true],
    [beginWriting, "42601", false],
    ["INSERT INTO call VALUES (1)", "25006", true],
    ["SELECT * FROM call", "0A000", false]
  ]
  for (const [text, code, isOutage] of cases)
    it.effect(`is ${isOutage ? "an outage" : "a fault of ours"} when the server answers ${code} to ${text}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(refusing(code).execute(text, [], undefined))
        expect(Outage.is(error)).toBe(isOutage)
      })
    )
})
