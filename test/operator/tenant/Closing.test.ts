import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import * as Features from "../../support/Features.ts"
import { jsonOf, layer as world, operator, Recorded, signup } from "../OperatorWorld.ts"

const content = Buffer.from("heard")

/** A call with a recording, its file, and a transcript of one phrase, each under a name. */
const spoken = Effect.fnUntraced(function* (tenantId: Id.TenantId, name: string) {
  const sql = yield* SqlClient.SqlClient
  const callId = Id.derive(name, "call")
  const recording = Id.derive(name, "rec")
  yield* sql`INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
      duration_seconds, rating_status)
    VALUES (${callId}, ${tenantId}, 'outbound', 'ended', '+12025550101', '+12025550102', 'none', now(), 3, 'rated')`
  yield* sql`INSERT INTO recording (id, tenant_id, call_id, channels, format, status, duration_seconds, size_bytes, created_at)
    VALUES (${recording}, ${tenantId}, ${callId}, 'dual', 'wav', 'available', 3, ${content.length}, now())`
  yield* sql`INSERT INTO transcription (id, tenant_id, call_id, leg_id, status, engine, language, tracks, started_at, duration_seconds)
    VALUES (${`t ${name}`}, ${tenantId}, ${callId}, 'leg', 'ended', 'e', 'en-US', 'both', now(), 3)`
  yield* sql`INSERT INTO transcript_segment (id, transcription_id, sequence, transcript, track, started_at, ended_at, words)
    VALUES (${`s ${name}`}, ${`t ${name}`}, 1, ${`said by ${name}`}, 'inbound', now(), now(), '[]')`
  const file = `recordings/${recording.slice(-32).slice(0, 2)}/${recording}.wav`
  Features.storage.files.set(file, content)
  return { recording, file }
})

interface Line {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const exported = Effect.fnUntraced(function* (slug: string) {
  const path = join((yield* Recorded).dataDir, `${slug}-${Math.random()}.ndjson.gz`)
  const outcome = yield* operator("tenant", "export", slug, path)
  expect([outcome.code, outcome.stderr]).toStrictEqual([0, ""])
  const text = gunzipSync(readFileSync(path)).toString()
  const all = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown)
  return { text, end: all.at(-1), lines: all.slice(0, -1) as ReadonlyArray<Line> }
})

layer(world, { timeout: 60_000 })("A tenant that goes", (it) => {
  it.effect("is exported whole, of itself only, without secrets, also when it is closed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenantId } = yield* signup("leaving")
      const other = yield* signup("staying")
      const { file, recording } = yield* spoken(tenantId, "leaving")
      yield* spoken(other.tenantId, "staying")
      // More than a page of them.
      yield* sql`INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
          duration_seconds, rating_status)
        SELECT 'many ' || n, ${tenantId}::uuid, 'outbound', 'ended', '+12025550101', '+12025550102', 'none',
          now() - n * interval '1 minute', 3, 'rated' FROM generate_series(1, 400) n`
      yield* sql`INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
        VALUES ('hook', ${tenantId}, 'https://example.com/', '{}', 'whsec_hidden', true, now())`
      yield* operator("tenant", "close", "leaving")

      const { end, lines, text } = yield* exported("leaving")
      expect(lines[0]).toMatchObject({ type: "export", data: { format: 1, tenant_id: tenantId } })
      expect(end).toStrictEqual({ end: true, rows: lines.length - 1 })
      const of = (type: string) => lines.filter((line) => line.type === type).map(({ data }) => data)
      expect(of("tenant")).toMatchObject([{ id: tenantId, slug: "leaving", status: "closed" }])
      expect(of("member")).toMatchObject([{ email: "leaving@example.com", role: "owner" }])
      expect(of("api_key")).toHaveLength(1)
      expect(of("webhook_subscription")).toMatchObject([{ id: "hook", target_url: "https://example.com/" }])
      expect(of("call")).toHaveLength(401)
      expect(new Set(of("call").map(({ id }) => id)).size).toBe(401)
      expect(of("recording")).toMatchObject([
        { id: recording, file, status: "available", download_url: expect.stringContaining(recording) }
      ])
      expect(of("transcript_segment")).toMatchObject([{ transcript: "said by leaving" }])
      expect(of("ledger_entry")).toMatchObject([{ type: "adjustment", amount_cents: 500, balance_after_cents: 500 }])
      expect(of("audit_line").map(({ action }) => action)).toEqual(
        expect.arrayContaining(["tenant.closed", "tenant.exported"])
      )
      expect(text).not.toMatch(/staying|whsec_|hash|salt|password|secret/)
    })
  )

  it.effect("has an export of its own name only", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* operator("tenant", "export", "nobody", "/nowhere/file")
      expect([code, stderr]).toStrictEqual([1, expect.stringContaining("not_found")])
      expect(jsonOf(yield* operator("tenant", "show", "staying", "--json"))).toMatchObject({ slug: "staying" })
    })
  )
})
