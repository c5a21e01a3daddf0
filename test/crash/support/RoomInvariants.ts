import { Schema } from "effect"
import * as ConferenceMachine from "../../../src/telephony/conference/machine/ConferenceMachine.ts"
import { ConferenceInput } from "../../../src/telephony/conference/machine/ConferenceInput.ts"
import { commitOf } from "../../../src/telephony/conference/stored/ConferenceRecord.ts"
import { type ConferenceState, isPresent } from "../../../src/telephony/conference/machine/ConferenceState.ts"
import * as ConferenceSealing from "../../../src/telephony/conference/stored/ConferenceSealing.ts"
import * as Replay from "../../../src/telephony/call/timeline/Replay.ts"
import type { StoredInput } from "../../../src/runtime/store/journal/Journal.ts"
import type { Database } from "./peer/Database.ts"

/** The invariants of conferences after every restart, when everything is settled. Each line is a violation. */
type Lines = ReadonlyArray<string>

interface Entity {
  readonly id: string
  readonly settled: boolean
  readonly seq: number
  readonly state: ConferenceState
}

interface Event {
  readonly id: string
  readonly entityId: string
  readonly sequence: number
  readonly type: string
  readonly body: string
  readonly memberId: string | null
}

const entities = (database: Database) =>
  database.query<Entity>("SELECT id, settled, seq::int AS seq, state FROM entity WHERE kind = 'conference'")

export const settled = async (database: Database): Promise<Lines> =>
  (await entities(database)).flatMap(({ id, settled, state }) =>
    settled
      ? []
      : [
          `conference ${id} is ${state.status}, its room ${state.room}, and waits for ${JSON.stringify([
            ...state.pending,
            ...state.recordings,
            ...state.members.filter((member) => isPresent(member) || member.told !== null)
          ])}`
        ]
  )

const eventsOf = async (database: Database) =>
  Map.groupBy(
    await database.query<Event>(`
      SELECT id, entity_id AS "entityId", sequence, type, body, (body::jsonb) #>> '{data,member_id}' AS "memberId"
      FROM event WHERE entity_id LIKE 'svc_conf_%' ORDER BY entity_id, sequence`),
    ({ entityId }) => entityId
  )

/** Events that may come after the conference has ended. */
const late = new Set(["recording.completed", "recording.failed"])

/**
 * Events are numbered without gaps; a conference starts once at most and ends once, after everything but late events;
 * each member came and left once, or never came; each playback ends once.
 */
export const stories = async (database: Database): Promise<Lines> => {
  const lines: Array<string> = []
  const told = await eventsOf(database)
  for (const { id, state } of await entities(database)) {
    const events = told.get(id) ?? []
    const history = events.map(({ memberId, sequence, type }) => `${sequence} ${type} ${memberId ?? ""}`).join(", ")
    const of = (type: string, memberId: string | null = null) =>
      events.filter((each) => each.type === type && (memberId === null || each.memberId === memberId)).length
    if (!events.every(({ sequence }, index) => sequence === index + 1))
      lines.push(`the events of ${id} are not numbered without gaps: ${history}`)
    if (of("conference.started") > 1 || of("conference.ended") !== 1)
      lines.push(`${id} does not start and end once: ${history}`)
    if (events.findLast(({ type }) => !late.has(type))?.type !== "conference.ended")
      lines.push(`${id} does not end last: ${history}`)
    for (const member of state.members) {
      const [joined, left] = [of("conference.member_joined", member.id), of("conference.member_left", member.id)]
      if (joined !== left || joined > 1 || (member.joinedAt !== null) !== (joined === 1))
        lines.push(`member ${member.id} of ${id} came ${joined} times and left ${left} times: ${history}`)
      if (isPresent(member)) lines.push(`member ${member.id} of ${id}, which is over, has its seat: ${member.phase}`)
    }
    if (state.members.filter(({ phase }) => phase === "joined").length > state.maxParticipants)
      lines.push(`${id} holds more than ${state.maxParticipants}`)
  }
  return lines
}

/** No call is in a room that has ended, and no call was billed for two stays at once. */
export const calls = async (database: Database): Promise<Lines> => {
  const rows = await database.query<{ readonly line: string }>(`
    SELECT 'call ' || id || ' is settled and in a room: ' || (state -> 'room')::text AS line FROM entity
    WHERE kind = 'call' AND settled AND jsonb_typeof(state -> 'room') = 'object'
    UNION ALL
    SELECT 'call ' || call_id || ' has ' || count(*) || ' seats at once' FROM conference_participant
    WHERE left_at IS NULL GROUP BY call_id HAVING count(*) > 1`)
  return rows.map(({ line }) => line)
}

/** Playing the journal again gives the stored state and the events of every conference. */
export const replays = async (database: Database): Promise<Lines> => {
  const inputs = Map.groupBy(
    await database.query<StoredInput & { readonly entityId: string }>(`
      SELECT entity_id AS "entityId", seq::int AS seq, (extract(epoch FROM at) * 1000)::float8 AS at, seed,
        machine_version AS "machineVersion", input
      FROM journal WHERE entity_id LIKE 'svc_conf_%' ORDER BY entity_id, seq`),
    ({ entityId }) => entityId
  )
  const told = await eventsOf(database)
  const lines: Array<string> = []
  for (const { id, seq, state: stored } of await entities(database)) {
    const journal = inputs.get(id) ?? []
    inputs.delete(id)
    if (journal.length !== seq || journal.some((input, index) => input.seq !== index + 1))
      lines.push(`the journal of ${id} has ${journal.length} inputs, its state ${seq}`)
    let before: ConferenceState | null = null
    const events: Array<string> = []
    for (const each of journal) {
      const input = Schema.decodeUnknownSync(ConferenceInput)(ConferenceSealing.standInInput(each.input))
      const context = { now: Math.round(each.at), seed: each.seed }
      const outcome = ConferenceMachine.step(before, input, context)
      if (outcome.type !== "accepted") {
        lines.push(`${id}: input ${each.seq} (${input.type}) is ${outcome.type} when it is replayed`)
        break
      }
      const { effects, state }: { readonly effects: never; readonly state: ConferenceState } = outcome as never
      for (const { body, id: eventId } of commitOf({ input, before, state, effects, context }, null, null).events)
        events.push(`${eventId} ${body}`)
      before = state
    }
    for (const { path, replayed, stored: theirs } of Replay.differences(before, ConferenceSealing.standInState(stored)))
      lines.push(`${id} replays to ${path} = ${JSON.stringify(replayed)}, stored is ${JSON.stringify(theirs)}`)
    const written = (told.get(id) ?? []).map(({ body, id: eventId }) => `${eventId} ${body}`)
    const other = Array.from({ length: Math.max(written.length, events.length) }, (_, index) => index).find(
      (index) => written[index] !== events[index]
    )
    if (other !== undefined) lines.push(`event ${other + 1} of ${id} is ${written[other]}\nreplayed: ${events[other]}`)
  }
  for (const id of inputs.keys()) lines.push(`${id} has a journal and no state`)
  return lines
}
