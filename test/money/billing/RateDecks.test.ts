import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as RateDecks from "../../../src/money/billing/RateDecks.ts"
import * as Ids from "../../support/Ids.ts"
import * as Features from "../../support/service/Features.ts"

/** A database that can no longer be read after a statement with this text. */
const goesAway = (sql: SqlClient.SqlClient, written: string) => {
  let isAway = false
  return new Proxy(sql, {
    apply: (target, self, [strings, ...values]: [TemplateStringsArray, ...ReadonlyArray<unknown>]) => {
      const statement: Effect.Effect<unknown, unknown> = Reflect.apply(target as never, self, [strings, ...values])
      const text = String(strings)
      if (text.includes(written))
        return Effect.andThen(
          Effect.sync(() => (isAway = true)),
          statement
        )
      if (!text.includes("SELECT id, (extract")) return statement
      return Effect.suspend(() => (isAway ? Effect.die(new Error("the database is away")) : statement))
    }
  })
}

layer(Features.layer, { excludeTestServices: true })("rate decks (guide/money.md#rates)", (it) => {
  it.effect("hold with their commit, whatever can be read behind it, and are taken back so", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const over = (written: string) =>
        Effect.provideService(RateDecks.make, SqlClient.SqlClient, goesAway(sql, written))
      const deck = (microUsdPerMinute: number) => [{ direction: "outbound", prefix: "4", microUsdPerMinute }] as const
      const importing = yield* over("INSERT INTO rate_deck")
      yield* importing.set(deck(7_000))
      expect(yield* importing.rate(Ids.tenant("t"), "outbound", "+49301234567")).toEqual({ microUsdPerMinute: 7_000 })
      const soon = Date.now() + 3_600_000
      yield* (yield* RateDecks.make).set(deck(9_000), soon)
      const cancelling = yield* over("DELETE FROM rate_deck")
      const [scheduled] = (yield* cancelling.decks(null)).filter(({ effectiveAt }) => effectiveAt === soon)
      yield* cancelling.cancel(scheduled?.id ?? 0)
      expect(yield* cancelling.rate(Ids.tenant("t"), "outbound", "+49301234567")).toEqual({ microUsdPerMinute: 7_000 })
    })
  )
})
