import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Caller } from "../../../src/runtime/audit/Audit.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import * as DownloadLink from "../../../src/telephony/recording/DownloadLink.ts"
import * as File from "../../../src/telephony/recording/File.ts"
import { Recordings } from "../../../src/telephony/recording/Recording.ts"
import * as Features from "../../support/service/Features.ts"

const callId = Id.derive("recorded", "call")
const idOf = (name: string) => Id.derive(name, "rec")
const content = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256))

interface Row {
  readonly name: string
  readonly tenantId: Id.TenantId
  readonly status?: string
  readonly ageDays?: number
  readonly callId?: Id.CallId
}

/** A recording with its file. */
const put = Effect.fnUntraced(function* ({
  ageDays = 0,
  callId: of = callId,
  name,
  status = "available",
  tenantId
}: Row) {
  const sql = yield* SqlClient.SqlClient
  const id = idOf(name)
  yield* sql`INSERT INTO recording (id, tenant_id, call_id, channels, format, status, duration_seconds, size_bytes, created_at)
    VALUES (${id}, ${tenantId}, ${of}, 'dual', 'wav', ${status}, 3, ${content.length},
      now() - ${ageDays}::float8 * interval '1 day')`
  if (status === "available" || status === "archived")
    Features.storage.files.set(File.keyOf({ id, format: "wav" }, status), content)
  return id
})
const keyOf = (name: string, status: "available" | "archived" = "available") =>
  File.keyOf({ id: idOf(name), format: "wav" }, status)
const statusOf = (name: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly status: string }>`SELECT status FROM recording WHERE id = ${idOf(name)}`,
      ([row]) => row?.status ?? null
    )
  )
const codeOf = <A>(effect: Effect.Effect<A, { readonly code: string }>) =>
  Effect.match(effect, { onSuccess: () => "done", onFailure: ({ code }) => code })
const audited = (name: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT actor_type AS actor, action, changes FROM audit WHERE resource_id = ${idOf(name)}`
  )
const change = (actor: string, from: string, to: string) => [
  { actor, action: "recording.status_changed", changes: [{ field: "status", from, to }] }
]
const caller = (tenant: { readonly caller: Caller }) => tenant.caller as Parameters<Recordings["Service"]["remove"]>[0]

layer(Features.layer, { timeout: 60_000 })("Recordings, guide/recordings.md", (it) => {
  describe("to their tenant", () => {
    it.effect("are shown with a link that leads to them", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const { id: tenantId } = yield* Features.newTenant()
        const id = yield* put({ name: "shown", tenantId })
        const shown = yield* recordings.find(tenantId, id)
        expect(shown).toMatchObject({
          id,
          call_id: callId,
          channels: "dual",
          format: "wav",
          duration_seconds: 3,
          size_bytes: 1000,
          status: "available"
        })
        const url = new URL(shown.download_url ?? "")
        const row = yield* recordings.linked({
          file: url.pathname.slice(DownloadLink.path.length),
          expires: url.searchParams.get("expires") ?? "",
          signature: url.searchParams.get("signature") ?? ""
        })
        expect(row?.id).toBe(id)
      })
    )

    it.effect("are not ready when archived, expired or failed, and stay in the list without a link", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const { id: tenantId } = yield* Features.newTenant()
        for (const status of ["archived", "expired", "failed"]) {
          const id = yield* put({ name: `unready ${status}`, tenantId, status })
          expect(yield* codeOf(recordings.find(tenantId, id))).toBe("recording_not_ready")
        }
        const { count, results } = yield* recordings.list(tenantId, {}, { limit: 20, offset: 0 })
        expect(count).toBe(3)
        expect(results.map(({ download_url: url }) => url)).toStrictEqual([null, null, null])
      })
    )

    it.effect("are found by their call, newest first, and never by another tenant", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const [{ id: tenantId }, other] = [yield* Features.newTenant(), yield* Features.newTenant()]
        const of = Id.derive("one of two", "call")
        const old = yield* put({ name: "old", tenantId, callId: of, ageDays: 2 })
        const young = yield* put({ name: "young", tenantId, callId: of, ageDays: 1 })
        yield* put({ name: "of another call", tenantId })
        const list = (tenant: Id.TenantId) =>
          Effect.map(recordings.list(tenant, { callId: of }, { limit: 20, offset: 0 }), ({ results }) =>
            results.map(({ id }) => id)
          )
        expect(yield* list(tenantId)).toStrictEqual([young, old])
        expect(yield* list(other.id)).toStrictEqual([])
        expect((yield* recordings.ofCall(tenantId, of)).map(({ id }) => id)).toStrictEqual([old, young])
        expect(yield* recordings.ofCall(other.id, of)).toStrictEqual([])
        expect(yield* codeOf(recordings.find(other.id, old))).toBe("not_found")
        expect(yield* codeOf(recordings.remove(caller(other), old, null))).toBe("not_found")
        expect(yield* statusOf("old")).toBe("available")
      })
    )

    it.effect("are gone once deleted, link and file too, in whatever state", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const jobs = yield* Jobs
        const tenant = yield* Features.newTenant()
        for (const status of ["available", "archived", "expired", "failed"] as const) {
          const name = `deleted ${status}`
          const id = yield* put({ name, tenantId: tenant.id, status })
          const link = new URL(yield* recordings.link({ id, format: "wav" }))
          expect(yield* recordings.remove(caller(tenant), id, null)).toStrictEqual({ status: 204, body: null })
          expect(yield* codeOf(recordings.find(tenant.id, id))).toBe("not_found")
          expect(yield* codeOf(recordings.remove(caller(tenant), id, null))).toBe("not_found")
          expect(
            yield* recordings.linked({
              file: `${id}.wav`,
              expires: link.searchParams.get("expires") ?? "",
              signature: link.searchParams.get("signature") ?? ""
            })
          ).toBe(null)
          yield* jobs.poll
          expect(Features.storage.files.has(keyOf(name))).toBe(false)
          expect(Features.storage.files.has(keyOf(name, "archived"))).toBe(false)
        }
      })
    )
  })

  describe("with time", () => {
    it.effect("are archived after 30 days and expire after 90, with their files", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const { id: tenantId } = yield* Features.newTenant()
        yield* put({ name: "29 days", tenantId, ageDays: 29 })
        yield* put({ name: "31 days", tenantId, ageDays: 31 })
        yield* put({ name: "91 days", tenantId, ageDays: 91, status: "archived" })
        yield* put({ name: "91 days, never archived", tenantId, ageDays: 91 })
        yield* put({ name: "without its file", tenantId, ageDays: 31 })
        Features.storage.files.delete(keyOf("without its file"))
        yield* Effect.orDie(recordings.age)
        const names = ["29 days", "31 days", "91 days", "91 days, never archived", "without its file"]
        expect(yield* Effect.forEach(names, statusOf)).toStrictEqual([
          "available",
          "archived",
          "expired",
          "expired",
          "expired"
        ])
        const { files } = Features.storage
        expect(names.map((name) => [files.has(keyOf(name)), files.has(keyOf(name, "archived"))])).toStrictEqual([
          [true, false],
          [false, true],
          [false, false],
          [false, false],
          [false, false]
        ])
        expect(yield* Effect.forEach(names, audited)).toStrictEqual([
          [],
          change("system", "available", "archived"),
          change("system", "archived", "expired"),
          change("system", "available", "expired"),
          change("system", "available", "expired")
        ])
      })
    )

    it.effect("are aged by a later attempt when their file cannot be moved now, and the job says so", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const { id: tenantId } = yield* Features.newTenant()
        yield* put({ name: "not now", tenantId, ageDays: 31 })
        Features.storage.failNext(1)
        expect(yield* Effect.isSuccess(recordings.age)).toBe(false)
        expect(yield* statusOf("not now")).toBe("available")
        expect(yield* Effect.isSuccess(recordings.age)).toBe(true)
        expect(yield* statusOf("not now")).toBe("archived")
      })
    )

    it.effect("come back from the archive when the operator says so, for another 30 days", () =>
      Effect.gen(function* () {
        const recordings = yield* Recordings
        const { id: tenantId } = yield* Features.newTenant()
        const id = yield* put({ name: "brought back", tenantId, ageDays: 40, status: "archived" })
        expect((yield* recordings.restore(id)).status).toBe("available")
        yield* Effect.orDie(recordings.age)
        expect(yield* statusOf("brought back")).toBe("available")
        expect(Features.storage.files.has(keyOf("brought back"))).toBe(true)
        expect(yield* codeOf(recordings.restore(id))).toBe("conflict")
        expect(yield* audited("brought back")).toStrictEqual(change("operator", "archived", "available"))
        expect(yield* codeOf(recordings.restore(idOf("nobody's")))).toBe("not_found")
      })
    )
  })
})
