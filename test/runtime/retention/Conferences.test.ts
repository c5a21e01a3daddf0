import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Retention } from "../../../src/runtime/retention/Retention.ts"
import * as OldCalls from "./OldCalls.ts"
import * as OldConferences from "./OldConferences.ts"

const { dayMs, present } = OldCalls
const start = Date.UTC(2026, 0, 1)
const world = Conferences.layer({ wantsSpeaking: () => Effect.succeed(false) }).pipe(
  Layer.provideMerge(OldCalls.layer(20))
)

/** The rows that are left of a conference after this many days. */
const left = Effect.fnUntraced(function* (id: Id.ConferenceId, days: number) {
  present.now = start + days * dayMs
  yield* (yield* Retention).prune
  return yield* OldConferences.rowsOf(id)
})
const inOneWindow = { limit: 20, offset: 0 }

layer(world, { timeout: "120 seconds", excludeTestServices: true })("Retention of a conference", (it) => {
  it.effect("takes events and journal after 30 days, then all of it after 13 months, and another's nothing", () =>
    Effect.gen(function* () {
      const tenant = yield* OldCalls.tenant
      const hostCallId = Id.derive("its call", "call")
      const id = yield* OldConferences.write(tenant, "old", { at: start, hostCallId, isOver: true })
      const young = yield* OldConferences.write(tenant, "young", {
        at: start + 390 * dayMs,
        hostCallId,
        isOver: true
      })
      const whole = yield* OldConferences.rowsOf(id)
      expect(whole).toMatchObject({ inputs: 10, conferences: 1, participants: 1, recordings: 1, entities: 1 })
      expect(Math.min(...Object.values(whole))).toBeGreaterThan(0)
      expect(yield* left(id, 29.9)).toEqual(whole)
      const kept = { ...whole, deliveries: 0, events: 0, inputs: 0 }
      expect(yield* left(id, 30.1)).toEqual(kept)
      expect(yield* left(id, 395.9)).toEqual(kept)
      expect(yield* left(id, 396.1)).toEqual(Object.fromEntries(Object.keys(whole).map((name) => [name, 0])))
      expect(yield* OldConferences.rowsOf(young)).toEqual(whole)
      expect((yield* (yield* Conferences).list(tenant.id, {}, inOneWindow)).results.map(({ name }) => name)).toEqual([
        "young"
      ])
    })
  )

  it.effect("leaves one that is not over, however old it is", () =>
    Effect.gen(function* () {
      const tenant = yield* OldCalls.tenant
      const hostCallId = Id.derive("a call that goes on", "call")
      const id = yield* OldConferences.write(tenant, "going on", { at: start, hostCallId, isOver: false })
      expect(yield* left(id, 800)).toMatchObject({ inputs: 7, conferences: 1, participants: 1, entities: 1 })
    })
  )

  it.effect("shows one whose call was taken before it without a host, alone and in the list", () =>
    Effect.gen(function* () {
      const tenant = yield* OldCalls.tenant
      const conferences = yield* Conferences
      const call = yield* OldCalls.write(tenant, "hosting", { at: start, settled: true, delivered: true })
      const id = yield* OldConferences.write(tenant, "hosted", {
        at: start + dayMs,
        hostCallId: call.id,
        isOver: true
      })
      const shown = Effect.gen(function* () {
        const { results } = yield* conferences.list(tenant.id, {}, inOneWindow)
        const one = yield* conferences.find(tenant.id, id)
        return [one.host_call_id, ...results.map(({ host_call_id }) => host_call_id)]
      })
      expect(yield* shown).toEqual([call.id, call.id])
      yield* left(id, 396.5)
      expect(yield* (yield* SqlClient.SqlClient)`SELECT FROM call WHERE id = ${call.id}`).toEqual([])
      expect(yield* shown).toEqual([null, null])
    })
  )
})
