import { timestamptz } from "@effect/sql-pg/PgTypes"
import { expect, layer } from "@effect/vitest"
import { Effect, References } from "effect"
import { SqlClient } from "effect/sql"
import * as TestDatabase from "../../../support/TestDatabase.ts"

/** Microseconds since 1970, before and after it, in both halves of a word. */
const micros = [0, 1, -1, 999, 1_001, -1_234_567_890_123_457, 1_700_000_000_123_457, 4_294_967_296_000_001].concat(
  Array.from({ length: 2_000 }, (_, n) => 1_700_000_000_000_000 + n * 1_234_567_891)
)

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("Rows of the database", (it) => {
  it.effect("have their columns in camelCase, and JSON values as they are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const statement = sql`SELECT 1 AS first_one, 2 AS "alreadyCamel", 3 AS last4, 4 AS a_1,
        '{"some_key": [{"other_key": 1}]}'::jsonb AS some_json, '{"some_key": 1}'::json AS other_json`
      const json = { some_json: { some_key: [{ other_key: 1 }] }, other_json: { some_key: 1 } }
      expect(yield* statement).toStrictEqual([
        { firstOne: 1, alreadyCamel: 2, last4: 3, a1: 4, someJson: json.some_json, otherJson: json.other_json }
      ])
      expect(yield* statement.withoutTransform).toStrictEqual([
        { first_one: 1, alreadyCamel: 2, last4: 3, a_1: 4, ...json }
      ])
      expect(yield* sql`SELECT 1 AS some_name WHERE false`).toStrictEqual([])
    })
  )

  it.effect("have times in milliseconds, as Postgres computes them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly at: number; readonly ms: number; readonly micros: number }>`
        SELECT at, (extract(epoch FROM at) * 1000)::float8 AS ms, micros FROM (
          SELECT micros, timestamptz 'epoch' + micros * interval '1 microsecond' AS at
          FROM unnest(${JSON.stringify(micros).replace("[", "{").replace("]", "}")}::bigint[]) AS micros
        ) AS times`
      expect(rows.map((row) => row.micros)).toStrictEqual(micros)
      expect(rows.map(({ at }) => at)).toStrictEqual(rows.map(({ ms }) => ms))
      // A time that was read is the same one when it is written.
      const back = yield* Effect.forEach(
        rows.slice(0, 200),
        ({ at }) =>
          sql<{ readonly micros: number }>`SELECT (extract(epoch FROM ${timestamptz(at)}) * 1000000)::bigint AS micros`
      )
      expect(back.map(([row]) => row?.micros)).toStrictEqual(micros.slice(0, 200))
    })
  )

  it.effect("have infinite times, times without a value, and times in arrays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      expect(
        yield* sql`SELECT timestamptz 'infinity' AS never, timestamptz '-infinity' AS always, NULL::timestamptz AS none,
          ARRAY[timestamptz '1970-01-01T00:00:00.001Z', NULL] AS some,
          ${timestamptz(Infinity)} = 'infinity' AS "writtenNever", ${timestamptz(null)} IS NULL AS "writtenNone"`
      ).toStrictEqual([
        { never: Infinity, always: -Infinity, none: null, some: [1, null], writtenNever: true, writtenNone: true }
      ])
    })
  )

  it.effect("have integers and sums as numbers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [largest, smallest] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
      expect(
        yield* sql`SELECT ${largest}::bigint AS largest, ${smallest}::bigint AS smallest, -1::bigint AS minus,
          4294967296::bigint AS word, ARRAY[1, -2]::bigint[] AS some, NULL::bigint AS none, sum(n) AS sum,
          count(*) AS count, avg(n) AS average, 9007199254740991::numeric AS whole, 0.1::numeric AS tenth,
          -12345.678::numeric AS negative, 'NaN'::numeric AS nan
        FROM unnest(ARRAY[${largest - 2}, 2]::bigint[]) AS n`
      ).toStrictEqual([
        {
          largest,
          smallest,
          minus: -1,
          word: 4_294_967_296,
          some: [1, -2],
          none: null,
          sum: largest,
          count: 2,
          average: 4_503_599_627_370_495.5,
          whole: largest,
          tenth: 0.1,
          negative: -12_345.678,
          nan: NaN
        }
      ])
    })
  )

  it.effect("are refused when a number cannot hold one of their integers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const value of ["9007199254740992::bigint", "-9007199254740993::bigint", "9007199254740993::numeric"])
        expect((yield* Effect.flip(sql.unsafe(`SELECT ${value} AS value`))).message).toContain("decode row")
      expect(yield* sql`SELECT 1::bigint AS value`).toStrictEqual([{ value: 1 }])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
