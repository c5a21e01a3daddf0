import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../../src/runtime/process/Entropy.ts"
import * as BackupFormat from "../../../../src/runtime/store/backup/BackupFormat.ts"
import * as Dump from "../../../../src/runtime/store/backup/Dump.ts"
import * as Load from "../../../../src/runtime/store/backup/Load.ts"
import * as Migrations from "../../../../src/runtime/store/Migrations.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

const passphrase = "correct horse battery"
const ring = {
  current: Redacted.make(new Uint8Array(32).fill(3)),
  earlier: [Redacted.make(new Uint8Array(32).fill(4))]
}

const database = Layer.unwrap(Effect.map(TestDatabase.empty, (url) => PgClient.layer({ url, maxConnections: 3 })))

const dump = Effect.map(Stream.runCollect(Dump.lines(() => ring, passphrase)), (lines) =>
  lines.map((line) => line.slice(0, -1))
)

const load = (lines: ReadonlyArray<string>, words = passphrase) =>
  Effect.gen(function* () {
    const rest = lines.values()
    const next = Effect.sync(() => rest.next().value ?? null)
    const header = yield* next
    const opened = yield* Load.open(header, words)
    return { opened, rows: yield* Load.load(header ?? "", opened, next) }
  })

/** Writes difficult rows of every kind, more than a page of them. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrations.run
  yield* sql`
    INSERT INTO tenant (id, name, slug, status, created_at, updated_at) VALUES
      ('8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', ${'Ünï "quoted" \\ \u2028 \t\n 🎉 {a,b} ,'}, 'one', 'active',
        '2026-01-02 03:04:05.678901+00', 'infinity')`
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
    VALUES ('svc_sub_1', '8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', 'https://x.test', ${'{"a,b","{","\\\\",NULL}'}::text[], '', true,
      now())`
  yield* sql`
    INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, created_at)
    SELECT 'svc_ledger_' || n, '8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', n::text, 'topup', 9007199254740993, n, '', now()
    FROM generate_series(1, 401) n`
  yield* sql`
    INSERT INTO entity (id, kind, tenant_id, partition, seq, settled, state_version, state, updated_at)
    VALUES ('svc_call_1', 'call', '8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', 0, 1, false, 1,
      '{"n": 0.1000000000000000055511151231257827, "big": 123456789012345678901234567890, "null": null}', now()),
      ('svc_call_2', 'call', '8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', 0, 1, false, 1, 'null', now())`
  yield* sql`
    INSERT INTO route (id, tenant_id, name, is_default, status, adapter, host, port, created_at) VALUES
      ('svc_route_1', '8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', 'Trunk', true, 'active', 'sip', '192.0.2.1', 5060, now())`
  yield* sql`UPDATE route SET host = '192.0.2.2'`
})

const filled = Effect.gen(function* () {
  yield* fill
  return yield* dump
}).pipe(Effect.provide(database))

layer(Entropy.layerFixed("backup"), { excludeTestServices: true, timeout: "60 seconds" })("A backup", (it) => {
  it.effect("loaded into an empty database gives every row as it was, the keys, and sequences that go on", () =>
    Effect.gen(function* () {
      const lines = yield* filled
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { opened, rows } = yield* load(lines)
        expect(opened.keys).toStrictEqual(ring)
        expect(rows).toBeGreaterThan(405)
        // The load marked the owner in the backup as ended. Apart from that only the header differs.
        yield* sql`UPDATE journal_owner SET ended_epoch = NULL`
        const again = yield* dump
        expect(again.slice(1, -1)).toStrictEqual(lines.slice(1, -1))
        const [entry] = yield* sql<{ readonly ordinal: number }>`
          INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, created_at)
          VALUES ('next', '8adc81ef-1823-8aa4-bc36-d1a0f98bdf16', 'next', 'topup', 1, 1, '', now())
          RETURNING ordinal::int AS ordinal`
        expect(entry?.ordinal).toBe(402)
        // Triggers work again.
        const [before] = yield* sql<{ readonly version: number }>`SELECT version::int AS version FROM trunk_version`
        yield* sql`UPDATE route SET host = '192.0.2.3'`
        const [after] = yield* sql<{ readonly version: number }>`SELECT version::int AS version FROM trunk_version`
        expect(after?.version).toBeGreaterThan(before?.version ?? 0)
        const error = yield* Effect.flip(load(lines))
        expect(error.message).toContain("not empty")
      }).pipe(Effect.provide(database))
    })
  )

  it.effect("that is damaged, cut short, of a newer version, or opened with another passphrase, changes nothing", () =>
    Effect.gen(function* () {
      const lines = yield* filled
      const changed = (from: string | RegExp, to: string) => lines.map((line) => line.replace(from, to))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const [text, words, why] of [
          [changed('"svc_ledger_7"', '"svc_ledger_0"'), passphrase, "checksum"],
          [lines.toSpliced(-5, 1), passphrase, "damaged"],
          [lines.slice(0, -1), passphrase, "its end is missing"],
          [changed('{"table":"ledger"', '{"table":"ledger; DROP TABLE tenant"'), passphrase, "not of its schema"],
          [changed(/"schema":\d+/, '"schema":9999'), passphrase, "another version"],
          [changed(/"schema":\d+/, '"schema":58'), passphrase, "another version"],
          [lines, `${passphrase}!`, "passphrase"],
          [["hello"], passphrase, "not a backup"],
          [[], passphrase, "not a backup"]
        ] as const) {
          const error = yield* Effect.flip(load(text, words))
          expect(error, why).toBeInstanceOf(BackupFormat.BackupUnusable)
          expect(error.message).toContain(why)
          expect(yield* sql`SELECT FROM pg_class WHERE relname = 'tenant'`).toHaveLength(0)
        }
      }).pipe(Effect.provide(database))
    })
  )

  it.effect("is of one moment: what is written while it is read is not in it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fill
      let isFirst = true
      const lines = yield* Dump.lines(() => ring, passphrase).pipe(
        Stream.tap(() =>
          isFirst
            ? Effect.andThen(
                Effect.sync(() => {
                  isFirst = false
                }),
                sql`UPDATE tenant SET name = 'changed'`
              )
            : Effect.void
        ),
        Stream.runCollect
      )
      expect(lines.join("")).not.toContain("changed")
      expect(lines.join("")).toContain("🎉")
    }).pipe(Effect.provide(database))
  )

  it.effect("holds the keys of before and of after, when a rotation changes them meanwhile", () =>
    Effect.gen(function* () {
      yield* fill
      const [now, next] = [5, 6].map((byte) => Redacted.make(new Uint8Array(32).fill(byte)))
      if (now === undefined || next === undefined) throw new Error("there are two keys")
      const seen = [
        { current: now, earlier: [] },
        { current: next, earlier: [] }
      ]
      const keys = () => seen.shift() ?? { current: next, earlier: [] }
      const [header = ""] = yield* Stream.runCollect(Dump.lines(keys, passphrase))
      const opened = yield* Load.open(header.slice(0, -1), passphrase)
      const bytes = [opened.keys.current, ...opened.keys.earlier].map((key) => Redacted.value(key)[0])
      expect(bytes).toEqual([6, 5])
    }).pipe(Effect.provide(database))
  )
})
