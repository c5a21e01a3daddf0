import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../../src/domain/Id.ts"
import { Journal } from "../../../../src/runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../../../src/runtime/store/journal/JournalWriter.ts"
import { entityElement } from "../../../../src/runtime/store/migration/0082_entity_element.ts"
import type { ConferenceInput } from "../../../../src/telephony/conference/machine/ConferenceInput.ts"
import * as ConferenceMachine from "../../../../src/telephony/conference/machine/ConferenceMachine.ts"
import type { ConferenceState } from "../../../../src/telephony/conference/machine/ConferenceState.ts"
import * as ConferenceRecord from "../../../../src/telephony/conference/stored/ConferenceRecord.ts"
import * as StoredConference from "../../../../src/telephony/conference/stored/StoredConference.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

const live = JournalWriter.layer({ partitions: [0], onLost: () => {} }).pipe(Layer.provideMerge(TestDatabase.layer))

let made = 0
const now = 1_767_225_600_000

const tenant = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = Id.deriveUuid("member rows", "tenant", ++made)
  yield* sql`
    INSERT INTO tenant (id, name, slug, status, created_at, updated_at) VALUES (${id}, 'T', ${id}, 'active', now(), now())`
  return id
})

type Room = Effect.Success<ReturnType<typeof room>>

/** A live room of a tenant with its host; `take` applies an input, and `commit` also writes its step. */
const room = Effect.fnUntraced(function* () {
  const journal = yield* Journal
  const tenantId = yield* tenant()
  const seed = `room ${++made}`
  const id = Id.derive(seed, "conf")
  let state: ConferenceState | null = null
  let seeds = 0
  let n = 0
  const step = (input: ConferenceInput): ConferenceRecord.ConferenceStep => {
    const context = { now, seed: Id.derive(`${seed} ${seeds++}`, "conf").slice(-32) }
    const outcome = ConferenceMachine.step(state, input, context)
    if (outcome.type !== "accepted") throw new Error(`${input.type} is ${outcome.type}`)
    const made = { before: state, input, context, state: outcome.state, effects: outcome.effects }
    state = outcome.state
    return made
  }
  const current = (): ConferenceState => {
    if (state === null) throw new Error("there is no conference")
    return state
  }
  const memberOf = (name: string) => ({
    memberId: Id.derive(`${seed} ${name}`, "member"),
    callId: Id.derive(`${seed} ${name}`, "call"),
    legId: Id.derive(`${seed} ${name}`, "leg")
  })
  const event = (report: object) =>
    ({ ...report, conferenceId: id, at: now, incarnation: "i", n: ++n }) as Extract<
      ConferenceInput,
      { readonly type: "room" }
    >["event"]
  const joining = (name: string): ReadonlyArray<ConferenceInput> => {
    const { callId, legId, memberId } = memberOf(name)
    return [
      { type: "claim", memberId, callId, legId },
      { type: "told", told: { type: "entered", conferenceId: id, memberId, callId, legId } },
      { type: "room", event: event({ type: "member_joined", memberId, callId, legId }) }
    ]
  }
  step({
    type: "create",
    conferenceId: id,
    timeOffsetMs: 0,
    tenantId,
    routeId: Id.derive(seed, "route"),
    adapter: "simulator",
    hostCallId: memberOf("host").callId,
    hostLegId: memberOf("host").legId,
    customerReference: null,
    name: seed,
    beepEnabled: "never",
    startOnCreate: true,
    endOnExit: true,
    maxParticipants: 1_000,
    durationMinutes: 60
  })
  step({ type: "room", event: event({ type: "live" }) })
  return {
    id,
    current,
    memberOf,
    event,
    joining,
    take: (inputs: ReadonlyArray<ConferenceInput>) => inputs.forEach(step),
    commit: (inputs: ReadonlyArray<ConferenceInput>) =>
      Effect.forEach(inputs, (input) => journal.commit(ConferenceRecord.commitOf(step(input), null, null)), {
        discard: true
      }),
    /** Writes the state as the first commit would have made it at once. */
    store: () =>
      Effect.suspend(() => {
        const input: ConferenceInput = { type: "ended_by_system", by: "service" }
        const effects = { events: [], commands: [], tells: [], rows: [], charges: [] }
        const context = { now, seed: Id.derive(seed, "conf").slice(-32) }
        return journal.commit(
          ConferenceRecord.commitOf({ before: null, input, context, state: current(), effects }, null, null)
        )
      })
  }
})

const stored = Effect.fnUntraced(function* (of: Room) {
  const journal = yield* Journal
  const row = yield* journal.find(of.id)
  if (row === null) return expect.unreachable("there is no row")
  return Result.getOrThrow(StoredConference.decode(row, () => null))
})

/** Tests of other files write to the same log, for a second at once when they copy a database. */
const tries = 40

/** The fewest bytes of the log of the database that one of these needed; other work there only adds some. */
const bytes = Effect.fnUntraced(function* (each: ReadonlyArray<Effect.Effect<void>>) {
  const sql = yield* SqlClient.SqlClient
  let fewest = Infinity
  for (const one of each) {
    const [before] = yield* sql<{ readonly lsn: string }>`SELECT pg_current_wal_insert_lsn()::text AS lsn`
    yield* one
    const [after] = yield* sql<{ readonly bytes: number }>`
      SELECT (pg_current_wal_insert_lsn() - ${before?.lsn ?? "0/0"}::pg_lsn)::float8 AS bytes`
    fewest = Math.min(fewest, after?.bytes ?? Infinity)
  }
  return fewest
})

const names = (count: number, prefix = "member") => Array.from({ length: count }, (_, index) => `${prefix} ${index}`)

const roomOf = Effect.fnUntraced(function* (size: number) {
  const of = yield* room()
  for (const name of names(size)) of.take(of.joining(name))
  yield* of.store()
  return of
})

layer(live, { timeout: "120 seconds", excludeTestServices: true })("the members of a stored conference", (it) => {
  it.effect("make a join or a mute in a room of 250 write at most twice what it writes in one of 5", () =>
    Effect.gen(function* () {
      const written: Array<{ readonly join: number; readonly mute: number }> = []
      for (const size of [5, 250]) {
        const of = yield* roomOf(size)
        const join = yield* bytes(names(tries, "late").map((name) => of.commit(of.joining(name))))
        const mute = yield* bytes(
          Array.from({ length: tries }, (_, index) => {
            const isMuted = index % 2 === 0
            return of.commit([
              { type: "room", event: of.event({ type: "member_muted", ...of.memberOf("member 1"), isMuted }) }
            ])
          })
        )
        written.push({ join, mute })
        expect(yield* stored(of)).toStrictEqual(of.current())
      }
      const [small, large] = written
      expect.assert(small !== undefined && large !== undefined)
      expect(large.join).toBeLessThanOrEqual(2 * small.join)
      expect(large.mute).toBeLessThanOrEqual(2 * small.mute)
    })
  )

  it.effect("are one commit for the outcomes of a command for many, which reads back as it was", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* roomOf(64)
      const before = of.current().sequence
      yield* of.commit([
        {
          type: "room_events",
          events: names(64).map((name) => of.event({ type: "member_muted", ...of.memberOf(name), isMuted: true }))
        }
      ])
      expect(of.current().members.filter(({ isMuted }) => isMuted).length).toBe(64)
      expect(yield* stored(of)).toStrictEqual(of.current())
      const events = yield* sql<{ readonly sequence: number }>`
        SELECT sequence FROM event WHERE entity_id = ${of.id} ORDER BY sequence`
      expect(events.map(({ sequence }) => sequence)).toStrictEqual(names(64).map((_, index) => before + index + 1))
    })
  )

  it.effect("are stored with the conference once it is settled, and then have no rows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* roomOf(3)
      yield* of.commit([{ type: "ended_by_system", by: "service" }])
      expect(yield* stored(of)).toStrictEqual(of.current())
      yield* of.commit([
        ...of.current().members.map(({ callId, id }): ConferenceInput => ({
          type: "told",
          told: { type: "left", conferenceId: of.id, memberId: id, callId }
        })),
        { type: "room", event: of.event({ type: "over" }) }
      ])
      expect(ConferenceMachine.isSettled(of.current())).toBe(true)
      expect(yield* stored(of)).toStrictEqual(of.current())
      expect(yield* sql`SELECT FROM entity_element WHERE entity_id = ${of.id}`).toHaveLength(0)
    })
  )

  it.effect("are read as the version before stored them, and continue as rows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* roomOf(5)
      const damaged = yield* roomOf(2)
      // The version before had one row for the whole state.
      yield* sql`DROP TABLE entity_element`
      const state = JSON.stringify(of.current())
      yield* sql`UPDATE entity SET state = ${state}::jsonb WHERE id = ${of.id}`
      yield* sql`UPDATE entity SET state = jsonb_set(state, '{members}', '[{}]') WHERE id = ${damaged.id}`
      yield* entityElement
      expect(yield* stored(of)).toStrictEqual(of.current())
      expect(yield* Effect.exit(stored(damaged))).toMatchObject({ _tag: "Failure" })
      yield* of.commit(of.joining("late"))
      expect(yield* stored(of)).toStrictEqual(of.current())
    })
  )
})
