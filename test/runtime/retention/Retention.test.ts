import { describe, expect, layer } from "@effect/vitest"
import { Effect, Logger, References, Schema } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as Replay from "../../../src/telephony/call/timeline/Replay.ts"
import { UpkeepClient } from "../../../src/runtime/store/UpkeepClient.ts"
import * as Indexes from "../../../src/runtime/retention/Indexes.ts"
import { Retention } from "../../../src/runtime/retention/Retention.ts"
import * as Features from "../../support/service/Features.ts"
import * as OldCalls from "./OldCalls.ts"

const { dayMs, present } = OldCalls
const start = Date.UTC(2026, 0, 1)
const whole = { deliveries: 4, events: 4, inputs: 4, calls: 1, entities: 1, lines: 4 }

layer(OldCalls.layer(20), { timeout: "120 seconds", excludeTestServices: true })("Retention", (it) => {
  describe("of a call", () => {
    it.effect("goes step by step: deliveries, events and journal after 30 days, the call after 13 months", () =>
      Effect.gen(function* () {
        const retention = yield* Retention
        const tenant = yield* OldCalls.tenant
        const { id } = yield* OldCalls.write(tenant, "one", { at: start, settled: true, delivered: true })
        const left = (days: number) =>
          Effect.suspend(() => {
            present.now = start + days * dayMs
            return Effect.andThen(retention.prune, OldCalls.rowsOf(id))
          })
        expect(yield* left(29.9)).toStrictEqual(whole)
        expect(yield* left(30.1)).toStrictEqual({ ...whole, deliveries: 0, events: 0, inputs: 0 })
        expect(yield* left(395.9)).toStrictEqual({ ...whole, deliveries: 0, events: 0, inputs: 0 })
        expect(yield* left(396.1)).toStrictEqual({
          deliveries: 0,
          events: 0,
          inputs: 0,
          calls: 0,
          entities: 0,
          lines: 0
        })
        expect(yield* Features.ledgerAddsUp).toBe(true)
        expect(yield* retention.prunedUntil("call")).toBe(present.now - 396 * dayMs)
      })
    )

    it.effect("leaves what lives and what a delivery still needs, however old it is", () =>
      Effect.gen(function* () {
        const retention = yield* Retention
        const tenant = yield* OldCalls.tenant
        const living = yield* OldCalls.write(tenant, "living", { at: start, settled: false, delivered: true })
        const waiting = yield* OldCalls.write(tenant, "waiting", { at: start, settled: true, delivered: false })
        const fanned = yield* OldCalls.write(tenant, "fanned", { at: start, settled: true, delivered: true })
        yield* (yield* SqlClient.SqlClient)`
          INSERT INTO webhook_fan_out (partition, tenant_id, event_id)
          SELECT partition, tenant_id, id FROM event WHERE entity_id = ${fanned.id} AND sequence = 2`
        present.now = start + 390 * dayMs
        yield* retention.prune
        expect((yield* OldCalls.rowsOf(fanned.id)).events).toBe(1)
        expect(yield* OldCalls.rowsOf(living.id)).toStrictEqual({
          ...whole,
          deliveries: 0,
          events: 0,
          inputs: 3,
          lines: 3
        })
        expect(yield* OldCalls.rowsOf(waiting.id)).toStrictEqual({ ...whole, deliveries: 1, events: 1, inputs: 0 })
        present.now = start + 800 * dayMs
        yield* retention.prune
        expect(yield* OldCalls.rowsOf(living.id)).toStrictEqual({
          ...whole,
          deliveries: 0,
          events: 0,
          inputs: 3,
          lines: 0
        })
      })
    )

    it.effect("takes a journal that is longer than a batch in portions, its first input last", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const retention = yield* Retention
        const tenant = yield* OldCalls.tenant
        const { id } = yield* OldCalls.write(tenant, "long", { at: start, settled: true, delivered: true })
        yield* sql`
          INSERT INTO journal (entity_id, partition, seq, at, seed, machine_version, input)
          SELECT ${id}, 0, n, to_timestamp(${start / 1000}::float8), '', 2, '{}' FROM generate_series(5, 50) AS n`
        yield* sql`UPDATE entity SET seq = 50 WHERE id = ${id}`
        const left = Effect.map(
          sql<{ readonly seq: number }>`SELECT seq::int FROM journal WHERE entity_id = ${id} ORDER BY seq`,
          (rows) => rows.map(({ seq }) => seq)
        )
        present.now = start + 31 * dayMs
        yield* retention.prune
        expect(yield* left).toStrictEqual(Array.from({ length: 30 }, (_, index) => index + 1))
        yield* retention.prune
        yield* retention.prune
        expect(yield* left).toStrictEqual([])
      })
    )
  })

  it.effect("tells how much there is, what was deleted, and how far it is behind", () =>
    Effect.gen(function* () {
      const retention = yield* Retention
      const tenant = yield* OldCalls.tenant
      // Its waiting delivery keeps its event, which is ten days too old then.
      yield* OldCalls.write(tenant, "measured", { at: start - 800 * dayMs, settled: true, delivered: false })
      present.now = start - 760 * dayMs
      yield* retention.prune
      const text = yield* PrometheusMetrics.format()
      const of = (name: string, table: string) =>
        Number(new RegExp(`^${name}\\{table="${table}"\\} (.+)$`, "m").exec(text)?.[1] ?? Number.NaN)
      expect(of("retention_oldest_row_seconds", "event")).toBeCloseTo(40 * 86_400, -2)
      expect(of("retention_lag_seconds", "event")).toBeCloseTo(10 * 86_400, -2)
      expect(of("retention_lag_seconds", "audit")).toBe(0)
      expect(of("retention_pruned_rows_total", "webhook_delivery")).toBeGreaterThan(0)
      expect(of("table_bytes", "event")).toBeGreaterThan(0)
      expect(of("table_rows", "event")).toBeGreaterThanOrEqual(0)
    })
  )

  it.effect("deletes the key of a call that is settled and delivered for an hour, and no other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const retention = yield* Retention
      const tenant = yield* OldCalls.tenant
      const of = { at: start, settled: true, delivered: true }
      const over = yield* OldCalls.write(tenant, "key over", of)
      const fresh = yield* OldCalls.write(tenant, "key fresh", { ...of, at: start + 0.5 * 3_600_000 })
      const waiting = yield* OldCalls.write(tenant, "key waiting", { ...of, delivered: false })
      const living = yield* OldCalls.write(tenant, "key living", { ...of, settled: false })
      for (const { id } of [over, fresh, waiting, living])
        yield* sql`INSERT INTO call_key ${sql.insert({ id, tenant_id: tenant.id, key: "sealed" })}`
      present.now = start + 1.1 * 3_600_000
      yield* retention.prune
      const left = yield* sql<{ readonly id: string }>`SELECT id FROM call_key WHERE tenant_id = ${tenant.id}`
      expect(left.map(({ id }) => id).toSorted()).toStrictEqual([fresh.id, waiting.id, living.id].toSorted())
    })
  )

  it.effect("deletes receipts after 25 hours and failed jobs after 30 days", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const retention = yield* Retention
      const receipt = (key: string, at: number) =>
        sql`INSERT INTO idempotency ${sql.insert({ owner: "o", key, method: "POST", path: "/", body_hash: "h", status: 200, created_at: new Date(at) })}`
      const job = (key: string, at: number | null) =>
        sql`INSERT INTO job ${sql.insert({ kind: "test", key, partition: 0, tenant_id: "00000000-0000-0000-0000-000000000000", created_at: new Date(start), failed_at: at === null ? null : new Date(at) })}`
      present.now = start + 40 * dayMs
      yield* receipt("old", present.now - 25.1 * 3_600_000)
      yield* receipt("new", present.now - 24.9 * 3_600_000)
      yield* job("old", present.now - 30.1 * dayMs)
      yield* job("new", present.now - 29.9 * dayMs)
      yield* job("due", null)
      yield* retention.prune
      expect(yield* sql`SELECT key FROM idempotency`).toStrictEqual([{ key: "new" }])
      expect(yield* sql`SELECT key FROM job WHERE kind = 'test' ORDER BY key`).toStrictEqual([
        { key: "due" },
        { key: "new" }
      ])
    })
  )

  it.effect("deletes letters after 30 days, and keys of logins 30 days after they expired", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const retention = yield* Retention
      const { id: tenantId } = yield* OldCalls.tenant
      const letter = (cause: string, at: number) =>
        sql`INSERT INTO letter ${sql.insert({ cause, to_name: "", to_address: "a@x.com", status: "sent", created_at: new Date(at) })}`
      const key = (name: string, isLogin: boolean, expiresAt: number | null) =>
        sql`INSERT INTO api_key (id, tenant_id, name, prefix, salt, hash, scopes, is_login, expires_at, created_at)
          VALUES (gen_random_uuid(), ${tenantId}, ${name}, '', '', '', '{}', ${isLogin},
            ${expiresAt === null ? null : new Date(expiresAt)}, now())`
      present.now = start + 50 * dayMs
      yield* letter("old", present.now - 30.1 * dayMs)
      yield* letter("new", present.now - 29.9 * dayMs)
      yield* key("old login", true, present.now - 30.1 * dayMs)
      yield* key("new login", true, present.now - 29.9 * dayMs)
      yield* key("old", false, present.now - 30.1 * dayMs)
      yield* key("everlasting", false, null)
      yield* retention.prune
      expect(yield* sql`SELECT cause FROM letter WHERE cause IN ('old', 'new')`).toStrictEqual([{ cause: "new" }])
      expect(yield* sql`SELECT name FROM api_key WHERE hash = '' ORDER BY name`).toStrictEqual([
        { name: "everlasting" },
        { name: "new login" },
        { name: "old" }
      ])
    })
  )

  it.effect("builds an index again whose building was interrupted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const retention = yield* Retention
      yield* retention.prune
      yield* sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('journal_begun')`
      yield* retention.prune
      expect(
        yield* sql`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('journal_begun')`
      ).toStrictEqual([{ valid: true }])
    })
  )

  it.effect("tells of an index that is built where there are rows, and not of those of a new database", () =>
    Effect.gen(function* () {
      const upkeep = yield* UpkeepClient
      const sql = upkeep ?? (yield* Effect.die("no connection for upkeep"))
      yield* sql`CREATE TABLE listed (of_day integer NOT NULL)`
      const index = { name: "listed_of_day", on: "listed (of_day)" }
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(
        ({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`)
      )
      const built = Effect.gen(function* () {
        yield* Indexes.ensure(sql, index)
        return lines.splice(0).map((line) => line.split(" ")[0])
      }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Debug"))
      expect(yield* built).toEqual(["Debug", "Debug"])
      yield* sql`DROP INDEX listed_of_day`
      yield* sql`INSERT INTO listed VALUES (1)`
      expect(yield* built).toEqual(["Info", "Info"])
      yield* sql`DROP TABLE listed`
    })
  )

  it.effect.prop(
    "changes nothing that is young, lives or is awaited, whenever it prunes",
    {
      ages: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 }))).check(
        Schema.isMinLength(3),
        Schema.isMaxLength(9)
      ),
      rounds: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(3)
      )
    },
    ({ ages, rounds }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const retention = yield* Retention
        const calls = yield* Calls
        const journal = yield* Journal
        const tenant = yield* OldCalls.tenant
        const today = start + 1000 * dayMs
        const written = yield* Effect.forEach(ages, (days, n) =>
          OldCalls.write(tenant, `${tenant.id} ${n}`, {
            at: today - days * dayMs,
            settled: (days + n) % 5 !== 0,
            delivered: (days + n) % 4 !== 0
          })
        )
        const shown = (id: OldCalls.Old["id"]) => Effect.map(Effect.result(calls.find(tenant.id, id)), JSON.stringify)
        const before = new Map<string, string>()
        for (const { id } of written) before.set(id, yield* shown(id))
        const ledger = sql`SELECT * FROM ledger ORDER BY ordinal`
        const entries = yield* ledger

        present.now = today
        for (const days of rounds) {
          present.now += days * dayMs
          yield* retention.prune
          for (const { at, delivered, id, settled } of written) {
            const age = (present.now - at) / dayMs
            const rows = yield* OldCalls.rowsOf(id)
            if (age < 396 || !settled) expect(yield* shown(id)).toBe(before.get(id))
            if (age < 30 || !settled) {
              // The events of a call can be sent again, and its journal gives its state.
              const entity = yield* journal.find(id)
              const steps = Replay.replay(yield* journal.inputs(id))
              expect(Replay.differences(steps.at(-1)?.state ?? null, entity?.state ?? null)).toStrictEqual([])
            }
            if (age < 30) expect([rows.deliveries, rows.events]).toStrictEqual(settled ? [4, 4] : [3, 3])
            if (!delivered) expect([rows.deliveries, rows.events].every((count) => count > 0)).toBe(true)
          }
          expect(yield* ledger).toStrictEqual(entries)
        }
        expect(yield* Features.ledgerAddsUp).toBe(true)
      }),
    { arbitrary: { runs: 8 }, timeout: 120_000 }
  )
})
