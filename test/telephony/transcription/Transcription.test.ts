import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { ListTurns } from "../../../src/runtime/store/list/ListClient.ts"
import { Transcriptions, View } from "../../../src/telephony/transcription/Transcription.ts"
import * as Features from "../../support/service/Features.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.toEncoded(View)))

/** A session of a call with this number of phrases. */
const said = Effect.fnUntraced(function* (tenantId: Id.TenantId, name: string, phrases: number) {
  const sql = yield* SqlClient.SqlClient
  const callId = Id.derive(name, "call")
  const id = Id.derive(name, "tx")
  yield* sql`
    INSERT INTO transcription (id, tenant_id, call_id, leg_id, status, engine, language, tracks, started_at, ended_at,
      duration_seconds, cost_cents)
    VALUES (${id}, ${tenantId}, ${callId}, ${Id.derive(name, "leg")}, 'completed', 'fast', 'en', 'both', now(), now(), 60, 1)`
  yield* sql`
    INSERT INTO transcript_segment
    SELECT ${id} || '_' || n, ${id}, n, 'phrase ' || n, 9000, 'inbound', now(), now(),
      '[{"word":"phrase","startMs":0,"endMs":90,"confidence":null}]' FROM generate_series(1, ${phrases}::int) n`
  return callId
})

/** How many turns its tenant had until a transcript was read, and the pieces. */
const read = Effect.fnUntraced(function* (tenantId: Id.TenantId, callId: Id.CallId) {
  let turns = 0
  const counted = {
    waiting: () => 0,
    othersWait: () => false,
    running: () => 0,
    within:
      () =>
      <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          turns++
          return effect
        })
  }
  const built = Effect.provide(Transcriptions, Layer.fresh(Transcriptions.layer))
  const { find } = yield* Effect.provideService(built, ListTurns, counted)
  const pieces = yield* Effect.flatMap(find(tenantId, callId), Stream.runCollect)
  return { turns, pieces, shown: decode(pieces.join("")) }
})

layer(Features.layer, { timeout: 60_000 })("A transcript, guide/transcription.md#the-transcript", (it) => {
  describe("is shown whole, in the order in which it was said", () => {
    for (const phrases of [0, 1, 99, 100, 101, 250])
      it.effect(`with ${phrases} phrases`, () =>
        Effect.gen(function* () {
          const { id: tenantId } = yield* Features.newTenant()
          const callId = yield* said(tenantId, `${phrases} phrases`, phrases)
          const { shown } = yield* read(tenantId, callId)
          const all = Array.from({ length: phrases }, (_, i) => `phrase ${i + 1}`)
          expect(shown.segments.map(({ transcript }) => transcript)).toEqual(all)
          expect(shown.transcript).toBe(all.join("\n"))
          expect(shown).toMatchObject({ call_id: callId, status: "completed", transcription_tracks: "both" })
          expect(shown.segments[0]?.words ?? []).toHaveLength(phrases === 0 ? 0 : 1)
        })
      )
  })

  it.effect("that is long is read in many turns of its tenant, each for a small piece", () =>
    Effect.gen(function* () {
      const { id: tenantId } = yield* Features.newTenant()
      const { pieces, turns } = yield* read(tenantId, yield* said(tenantId, "long", 1000))
      expect(turns).toBeGreaterThanOrEqual(10)
      const total = pieces.join("").length
      for (const piece of pieces) expect(piece.length).toBeLessThan(total / 5)
    })
  )

  it.effect("of another tenant is not found", () =>
    Effect.gen(function* () {
      const { id: owner } = yield* Features.newTenant()
      const { id: other } = yield* Features.newTenant()
      const callId = yield* said(owner, "not mine", 1)
      const { find } = yield* Transcriptions
      expect(yield* Effect.flip(find(other, callId))).toMatchObject({ code: "not_found" })
    })
  )
})
