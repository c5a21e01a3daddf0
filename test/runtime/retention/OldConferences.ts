import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as ConferenceMachine from "../../../src/telephony/conference/machine/ConferenceMachine.ts"
import * as ConferenceRecord from "../../../src/telephony/conference/stored/ConferenceRecord.ts"
import * as ConferenceRepo from "../../../src/telephony/conference/stored/ConferenceRepo.ts"
import type { ConferenceInput } from "../../../src/telephony/conference/machine/ConferenceInput.ts"
import type { ConferenceState } from "../../../src/telephony/conference/machine/ConferenceState.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Journal } from "../../../src/runtime/store/journal/Journal.ts"
import type { Tenant } from "./OldCalls.ts"

/** The inputs of a conference with its host, and one recording that failed. Without the end it is still in progress. */
const life = (tenant: Tenant, seed: string, hostCallId: Id.CallId, isOver: boolean): ReadonlyArray<Input> => {
  const id = Id.derive(seed, "conf")
  const legId = Id.derive(hostCallId, "leg")
  const room = (n: number, event: object) =>
    ({ type: "room", event: { ...event, conferenceId: id, at: 0, incarnation: "old", n } }) as ConferenceInput
  const act = (verb: string, body: object, more: object = {}) =>
    ({ type: "action", mostParticipants: null, action: { verb, body }, ...more }) as ConferenceInput
  const member = (state: ConferenceState | null) => state?.members[0]?.id ?? Id.derive("none", "member")
  const of = (state: ConferenceState | null) => ({ conferenceId: id, memberId: member(state), callId: hostCallId })
  return [
    () => ({
      type: "create",
      conferenceId: id,
      timeOffsetMs: 0,
      tenantId: tenant.id,
      routeId: Id.derive(tenant.id, "route"),
      adapter: "simulator",
      hostCallId,
      hostLegId: legId,
      customerReference: null,
      name: seed,
      beepEnabled: "never",
      startOnCreate: true,
      endOnExit: true,
      maxParticipants: 10,
      durationMinutes: 60
    }),
    () => room(1, { type: "live" }),
    (state) => ({ type: "told", told: { type: "entered", ...of(state), legId } }),
    (state) => room(2, { type: "member_joined", memberId: member(state), callId: hostCallId, legId }),
    () =>
      act(
        "record_start",
        { format: "wav", channels: "single", hasBeep: false },
        { recording: { microUsdPerMinute: 0, reservedMinutes: [1] } }
      ),
    () => act("record_stop", {}),
    (state) =>
      room(3, {
        type: "media",
        event: { type: "ended", id: state?.recordings[0]?.id, status: "failed", reason: "storage_error" }
      }),
    ...(isOver
      ? ([
          () => act("end", {}),
          (state) => ({ type: "told", told: { type: "left", ...of(state) } }),
          () => room(4, { type: "over" })
        ] satisfies ReadonlyArray<Input>)
      : [])
  ]
}
type Input = (state: ConferenceState | null) => ConferenceInput

/** Writes a conference as a process would have written it `at` that time, with all of its webhooks delivered. */
export const write = Effect.fnUntraced(function* (
  tenant: Tenant,
  seed: string,
  of: { readonly at: number; readonly hostCallId: Id.CallId; readonly isOver: boolean }
) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const repo = yield* ConferenceRepo.make
  const id = Id.derive(seed, "conf")
  let before: ConferenceState | null = null
  for (const [index, next] of life(tenant, seed, of.hostCallId, of.isOver).entries()) {
    const input = next(before)
    const context = { now: of.at + index, seed: Id.derive(`${seed} ${index}`, "conf").slice(-32) }
    const outcome = ConferenceMachine.step(before, input, context)
    if (outcome.type !== "accepted") throw new Error(`${input.type} is ${outcome.type}`)
    const step = { before, input, context, state: outcome.state, effects: outcome.effects }
    if (before === null) yield* repo.takeName(outcome.state)
    yield* journal.commit(ConferenceRecord.commitOf(step, null, null))
    before = outcome.state
  }
  // The database sets this time by its own clock.
  yield* sql`UPDATE entity SET updated_at = to_timestamp(${of.at / 1000}::float8) WHERE id = ${id}`
  yield* sql`
    UPDATE webhook_delivery d SET created_at = e.occurred_at, status = 'succeeded', attempt_no = 1, due_at = NULL
    FROM event e WHERE e.id = d.event_id AND e.entity_id = ${id}`
  return id
})

/** The number of rows of a conference, by table. */
export const rowsOf = Effect.fnUntraced(function* (id: Id.ConferenceId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Readonly<Record<string, number>>>`
    SELECT (SELECT count(*)::int FROM webhook_delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = ${id}) AS deliveries,
      (SELECT count(*)::int FROM event WHERE entity_id = ${id}) AS events,
      (SELECT count(*)::int FROM journal WHERE entity_id = ${id}) AS inputs,
      (SELECT count(*)::int FROM conference WHERE id = ${id}) AS conferences,
      (SELECT count(*)::int FROM conference_participant WHERE conference_id = ${id}) AS participants,
      (SELECT count(*)::int FROM recording WHERE conference_id = ${id}) AS recordings,
      (SELECT count(*)::int FROM entity WHERE id = ${id}) AS entities,
      (SELECT count(*)::int FROM audit WHERE resource_id = ${id}) AS lines`
  if (row === undefined) throw new Error("no answer")
  return row
})
