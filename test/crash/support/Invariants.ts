import { setTimeout as delay } from "node:timers/promises"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import { CallList } from "../../../src/telephony/call/stored/CallList.ts"
import { commitOf } from "../../../src/telephony/call/stored/CallRecord.ts"
import * as CallSealing from "../../../src/telephony/call/stored/CallSealing.ts"
import * as Meter from "../../../src/telephony/call/machine/Meter.ts"
import * as Upgrade from "../../../src/telephony/call/stored/Upgrade.ts"
import * as Envelope from "../../../src/domain/event/Envelope.ts"
import { type CallState, isTerminal, primary } from "../../../src/telephony/call/machine/CallState.ts"
import * as DialIdentity from "../../../src/carrier/sip/leg/dial/DialIdentity.ts"
import type { StoredInput } from "../../../src/runtime/store/journal/Journal.ts"
import * as Replay from "../../../src/telephony/call/timeline/Replay.ts"
import * as Overtaken from "../../../src/webhook/claim/Overtaken.ts"
import type { Database } from "./peer/Database.ts"
import type { Recorded } from "./load/Load.ts"
import * as Outcomes from "./Outcomes.ts"
import * as Patience from "./Patience.ts"
import * as Recordings from "./load/Recordings.ts"
import * as RoomInvariants from "./RoomInvariants.ts"
import type * as Receiver from "./peer/Receiver.ts"
import type { SipPeer } from "./peer/SipPeer.ts"
import type { World } from "./World.ts"

/**
 * The invariants after every restart (src/README.md#what-holds-and-is-tested). Each check gives a line for each
 * violation.
 */
type Lines = ReadonlyArray<string>

interface EventRow {
  readonly id: string
  readonly tenantId: string
  readonly entityId: string
  readonly sequence: number
  readonly type: string
  readonly routeId: string | null
  readonly body: string
}

interface EntityRow {
  readonly id: string
  readonly seq: number
  readonly settled: boolean
  readonly state: CallState
}

/**
 * Looks until `lines` gives none, or has not become fewer for `withinMs` of a quiet machine (`Patience.ts`); gives the
 * last ones.
 */
export const eventually = async (withinMs: number, lines: () => Lines | Promise<Lines>): Promise<Lines> => {
  let fewest = Number.POSITIVE_INFINITY
  for (const patience = Patience.make(withinMs); ; await delay(100)) {
    const last = await lines()
    if (last.length < fewest) {
      fewest = last.length
      patience.renew()
    }
    if (last.length === 0 || patience.isOver()) return last
  }
}

/** Every call is settled, and so is every order of numbers. */
const settled = async (database: Database): Promise<Lines> => {
  const orders = await database.query<{ readonly id: string }>("SELECT id FROM number_order WHERE status = 'pending'")
  const rows = await database.query<{ readonly id: string; readonly state: CallState }>(
    "SELECT id, state FROM entity WHERE kind = 'call' AND NOT settled"
  )
  return [
    ...(await RoomInvariants.settled(database)),
    ...orders.map(({ id }) => `order ${id} is pending`),
    ...rows.map(
      ({ id, state }) =>
        `call ${id} is ${state.status} and waits for ${
          JSON.stringify([...state.pending, ...state.work, ...state.outliving]) || "its end"
        }`
    )
  ]
}

/** The peer has no line up that was called before `before`. */
const legsDown = async (database: Database, peer: SipPeer, before: number): Promise<Lines> => {
  const up = [...peer.dialogs.values()].filter(({ closed, invitedAt }) => closed === null && invitedAt < before)
  if (up.length === 0) return []
  const calls = await database.query<{ readonly state: CallState }>("SELECT state FROM entity WHERE kind = 'call'")
  const callOf = new Map(calls.flatMap(({ state }) => sipCallIdsOf(state).map((callId) => [callId, state])))
  const lines = await Promise.all(
    up.map(async (dialog) => {
      const { callId, invitedAt } = dialog
      const errors = (await peer.errors?.(callId)) ?? []
      // While no process served, the peer may have given up its answer.
      if (dialog.closed !== null) return []
      const call = callOf.get(callId)
      const since = `invited at ${new Date(invitedAt).toISOString()}`
      const complaint = errors.length === 0 ? "" : ` and complains: ${errors.join("; ")}`
      return [
        `the SIP peer's line ${callId} (${since}) got neither BYE nor CANCEL${complaint}: ` +
          `its call is ${JSON.stringify(call ?? null)}`
      ]
    })
  )
  return lines.flat()
}

/** Every number that rang was called by a call: a call whose placing was refused never rings. */
const rings = async (database: Database, peer: SipPeer): Promise<Lines> => {
  const calls = await database.query<{ readonly state: CallState }>("SELECT state FROM entity WHERE kind = 'call'")
  const known = new Set(calls.flatMap(({ state }) => sipCallIdsOf(state)))
  return [...peer.dialogs.keys()]
    .filter((callId) => !known.has(callId))
    .map((callId) => `the SIP peer was called by ${callId}, which is no call`)
}

const sipCallIdOf = (state: CallState): string | null => {
  const { dialId } = primary(state)
  return dialId === null ? null : DialIdentity.of(dialId).callId
}

const sipCallIdsOf = ({ legs }: CallState): ReadonlyArray<string> =>
  legs.flatMap(({ dialId }) => (dialId === null ? [] : [DialIdentity.of(dialId).callId]))

/** Every accepted command has its effect once, every refused one has none, and there is no other effect. */
const effects = async (world: World): Promise<Lines> => {
  const database = world.database()
  const rows = await database.query<{ readonly mark: string; readonly times: number; readonly id: string }>(`
    SELECT mark, count(*)::int AS times, min(id) AS id FROM (
      SELECT 'call ' || customer_reference AS mark, id FROM call WHERE direction = 'outbound'
      UNION ALL SELECT 'conference ' || name, id FROM conference
      UNION ALL SELECT 'order ' || customer_reference, id FROM number_order WHERE customer_reference IS NOT NULL
      UNION ALL SELECT 'subscription ' || description, id FROM webhook_subscription WHERE description IS NOT NULL
      UNION ALL SELECT 'key ' || name, id::text FROM api_key WHERE name LIKE '%-errand%'
      UNION ALL SELECT 'top-up ' || amount_cents, id FROM payment_attempt WHERE kind = 'topup'
      UNION ALL
      SELECT CASE input #>> '{action,verb}'
          WHEN 'play' THEN 'play ' || (input #>> '{action,body,url}')
          WHEN 'send_dtmf' THEN 'send_dtmf ' || entity_id || ' ' || (input #>> '{action,body,durationMs}')
          WHEN 'join' THEN 'join ' || entity_id || ' ' || (input #>> '{action,body,callId}')
          WHEN 'mute' THEN 'mute ' || entity_id || ' ' || (input #>> '{action,body,legIds,0}')
          WHEN 'unmute' THEN 'unmute ' || entity_id || ' ' || (input #>> '{action,body,legIds,0}')
          WHEN 'hold' THEN 'hold ' || entity_id || ' ' || (input #>> '{action,body,legIds,0}')
          WHEN 'unhold' THEN 'unhold ' || entity_id || ' ' || (input #>> '{action,body,legIds,0}')
          WHEN 'supervise' THEN 'supervise ' || entity_id || ' ' || (input #>> '{action,body,legId}')
          WHEN 'gather' THEN 'gather ' || entity_id || ' ' || (input #>> '{action,body,timeoutMs}')
          ELSE (input #>> '{action,verb}') || ' ' || entity_id END, entity_id
      FROM journal WHERE input ->> 'type' = 'action'
    ) effect GROUP BY mark`)
  const found = new Map(rows.map((row) => [row.mark, row]))
  const lines: Array<string> = []
  for (const { answer, key, mark, path } of world.client.commands) {
    const effect = found.get(mark)
    found.delete(mark)
    const times = effect?.times ?? 0
    if (answer === null) lines.push(`${path} with key ${key} has no answer`)
    else if (times !== (answer.status < 300 ? 1 : 0))
      lines.push(`${path} with key ${key} was answered by ${answer.status} and had ${times} effects: ${answer.body}`)
    else if (effect !== undefined && !answer.body.includes(effect.id))
      lines.push(`${path} with key ${key} answered another call than ${effect.id}: ${answer.body}`)
  }
  for (const { id, mark } of found.values()) lines.push(`nobody asked for what happened to ${id}: ${mark}`)
  return lines
}

const eventRows = (database: Database) =>
  database.query<EventRow>(`
    SELECT id, tenant_id AS "tenantId", entity_id AS "entityId", sequence, type, route_id AS "routeId", body
    FROM event ORDER BY entity_id, sequence`)

/**
 * Every committed event reached every matching subscription, with its bytes, unless a newer one has overtaken it, and
 * nothing else reached any. The log agrees, since the receiver accepts everything.
 */
export const deliveries = async (world: World): Promise<Lines> => {
  const events = await eventRows(world.database())
  const subscribed = new Map(
    (
      await world
        .database()
        .query<{ readonly id: string; readonly types: ReadonlyArray<string>; readonly routeId: string | null }>(
          `SELECT id, event_types AS types, connection_id AS "routeId" FROM webhook_subscription WHERE is_active`
        )
    ).map((row) => [row.id, row])
  )
  const unfinished = await world.database().query<{ readonly line: string }>(`
    SELECT 'the delivery of ' || event_id || ' to ' || destination || ' is ' || status || ' after attempt ' || attempt_no AS line
    FROM webhook_delivery WHERE status <> 'succeeded' AND error_message IS DISTINCT FROM '${Overtaken.message}'`)
  const dropped = new Set(
    (
      await world
        .database()
        .query<{ readonly delivery: string }>(
          `SELECT event_id || ' ' || destination AS delivery FROM webhook_delivery WHERE error_message = '${Overtaken.message}'`
        )
    ).map(({ delivery }) => delivery)
  )
  const lines: Array<string> = [...world.receiver.violations, ...unfinished.map(({ line }) => line)]
  for (const tenant of world.tenants)
    for (const { id, name } of tenant.subscriptions) {
      const wants = subscribed.get(id)
      const delivered = new Map(world.receiver.delivered(name))
      for (const event of events) {
        if (event.tenantId !== tenant.id || wants === undefined) continue
        if (!wants.types.includes("*") && !wants.types.includes(event.type)) continue
        if (wants.routeId !== null && wants.routeId !== event.routeId) continue
        const got = delivered.get(event.id)
        delivered.delete(event.id)
        if (got === undefined && dropped.has(`${event.id} ${id}`)) continue
        if (got === undefined) lines.push(`${event.type} ${event.id} of ${event.entityId} did not reach ${name}`)
        else if (got.body !== event.body) lines.push(`${event.type} ${event.id} reached ${name} with other bytes`)
      }
      for (const { body } of delivered.values()) lines.push(`${name} was told of what was not committed: ${body}`)
    }
  return lines
}

/** Events that may come after the call has ended. */
const late = new Set(["recording.completed", "recording.failed", "call.transcript_chunk"])

/**
 * Events are numbered from 1 without gaps; the start is first, the end is last except for late events, each comes once.
 */
const sequences = async (database: Database): Promise<Lines> => {
  const lines: Array<string> = []
  for (const [entityId, events] of Map.groupBy(await eventRows(database), ({ entityId }) => entityId)) {
    if (!entityId.startsWith("svc_call_")) continue
    const history = events.map(({ sequence, type }) => `${sequence} ${type}`).join(", ")
    const numbered = events.every(({ sequence }, index) => sequence === index + 1)
    const times = (type: string) => events.filter((event) => event.type === type).length
    if (!numbered) lines.push(`the events of ${entityId} are not numbered without gaps: ${history}`)
    if (events[0]?.type !== "call.started" || times("call.started") !== 1)
      lines.push(`${entityId} does not start once and first: ${history}`)
    if (events.findLast(({ type }) => !late.has(type))?.type !== "call.ended" || times("call.ended") !== 1)
      lines.push(`${entityId} does not end once and last: ${history}`)
  }
  return lines
}

/** The call or conference whose numbering an event has; null: it belongs to neither. */
const entityOf = ({ data, event_type }: Receiver.Event): string | null => {
  // A recording of a conference names its host's call as well, and a call in a room names its conference.
  const isOfRoom = event_type.startsWith("conference.") || event_type.startsWith("recording.")
  const id = (isOfRoom ? data["conference_id"] : null) ?? data["call_id"]
  return typeof id === "string" ? id : null
}

/**
 * The deliveries to a subscription to everything, by themselves, have 1, 2, 3 … of each call and each conference, each
 * number once. `overtaken` has the numbers of an entity whose deliveries were dropped for a newer one.
 */
export const numbering = (
  name: string,
  events: Iterable<Receiver.Event>,
  overtaken: (entity: string) => ReadonlyArray<number> = () => []
): Lines =>
  [...Map.groupBy(events, entityOf)].flatMap(([entity, of]) => {
    if (entity === null) return []
    const got = of.map(({ sequence }) => sequence)
    const dropped = overtaken(entity).filter((sequence) => !got.includes(sequence))
    const numbers = [...got, ...dropped].toSorted((one, other) => one - other)
    return numbers.every((sequence, index) => sequence === index + 1)
      ? []
      : [
          `${name} got the numbers ${numbers.join(", ")} of ${entity}: ${of
            .map(({ event_type, sequence }) => `${sequence} ${event_type}`)
            .join(", ")}`
        ]
  })

const numbered = async (world: World): Promise<Lines> => {
  const rows = await world
    .database()
    .query<{ readonly entityId: string; readonly destination: string; readonly sequence: number }>(
      `SELECT e.entity_id AS "entityId", destination, e.sequence FROM webhook_delivery d
        JOIN event e ON e.id = d.event_id WHERE d.error_message = '${Overtaken.message}'`
    )
  const dropped = Map.groupBy(rows, ({ destination, entityId }) => `${destination} ${entityId}`)
  return world.tenants.flatMap(({ subscriptions: [first] }) =>
    first === undefined
      ? []
      : numbering(
          first.name,
          [...world.receiver.delivered(first.name).values()].map(({ event }) => event),
          (entity) => (dropped.get(`${first.id} ${entity}`) ?? []).map(({ sequence }) => sequence)
        )
  )
}

/** Playing the journal again gives the stored state, list row, events and charge of every call. */
export const replays = async (database: Database): Promise<Lines> => {
  const entities = await database.query<EntityRow>(
    "SELECT id, seq::int AS seq, settled, state FROM entity WHERE kind = 'call'"
  )
  const inputs = await database.query<StoredInput & { readonly entityId: string }>(`
    SELECT entity_id AS "entityId", seq::int AS seq, (extract(epoch FROM at) * 1000)::float8 AS at, seed,
      machine_version AS "machineVersion", input
    FROM journal WHERE entity_id LIKE 'svc_call_%' ORDER BY entity_id, seq`)
  const events = Map.groupBy(await eventRows(database), ({ entityId }) => entityId)
  const charges = new Map(
    (
      await database.query<{ readonly cause: string; readonly cents: number }>(
        "SELECT cause, amount_cents::float8 AS cents FROM ledger WHERE cause LIKE 'call:%'"
      )
    ).map(({ cause, cents }) => [cause, cents])
  )
  const listed = new Map(
    (
      await database.query<{ readonly id: string; readonly status: string; readonly cents: number | null }>(
        "SELECT id, status, cost_cents::float8 AS cents FROM call"
      )
    ).map((row) => [row.id, row])
  )
  const journals = Map.groupBy(inputs, ({ entityId }) => entityId)
  const lines: Array<string> = []
  for (const { id, seq, state: stored } of entities) {
    const journal = journals.get(id) ?? []
    journals.delete(id)
    if (journal.length !== seq || journal.some((input, index) => input.seq !== index + 1))
      lines.push(`the journal of ${id} has ${journal.length} inputs, its state ${seq}`)
    const replayed = replay(journal)
    if (replayed.fault !== null) lines.push(`${id}: ${replayed.fault}`)
    for (const { replayed: mine, path, stored: theirs } of Replay.differences(
      replayed.state === null ? null : CallSealing.maskState(replayed.state),
      CallSealing.maskState(stored)
    ))
      lines.push(`${id} replays to ${path} = ${JSON.stringify(mine)}, stored is ${JSON.stringify(theirs)}`)
    const written = (events.get(id) ?? []).map(({ body, id }) => `${id} ${masked(body)}`)
    const most = Math.max(written.length, replayed.events.length)
    const other = Array.from({ length: most }, (_, index) => index).find(
      (index) => written[index] !== replayed.events[index]
    )
    if (other !== undefined)
      lines.push(`event ${other + 1} of ${id} is ${written[other]}\nand replays to ${replayed.events[other]}`)
    const charge = charges.get(`call:${id}`) ?? 0
    if (charge + (stored.costCents ?? 0) !== 0)
      lines.push(`${id} costs ${stored.costCents} cents and was charged ${-charge}`)
    for (const { cents, type } of isTerminal(stored) ? Meter.charges(stored.meters) : []) {
      const cause = type === "call_charge" ? `call:${id}` : `call:${id}:${type}`
      const charged = -(charges.get(cause) ?? 0)
      charges.delete(cause)
      if (charged !== cents) lines.push(`the meters of ${id} come to ${cents} cents of ${type}, charged are ${charged}`)
    }
    const row = listed.get(id)
    const shown = CallList.rowOf(stored)
    if (row === undefined || row.status !== shown.status || row.cents !== shown.costCents)
      lines.push(
        `the list shows ${id} as ${row?.status} for ${row?.cents}, its state is ${shown.status} for ${shown.costCents}`
      )
  }
  for (const id of journals.keys()) lines.push(`${id} has a journal and no state`)
  for (const cause of charges.keys()) lines.push(`the ledger charges ${cause}, which no meter does`)
  return lines
}

/** The body of an event without its digits: a replay has their replacements. */
const masked = (body: string): string => {
  const envelope = JSON.parse(body) as { readonly event_type: string; readonly data: unknown }
  return JSON.stringify({ ...envelope, data: Envelope.masked(envelope.event_type, envelope.data) })
}

/** The call's state and everything else that its commits write. */
const replay = (inputs: ReadonlyArray<StoredInput>) => {
  let before: CallState | null = null
  const events: Array<string> = []
  for (const stored of inputs) {
    const input = Upgrade.input(stored)
    const context = { now: Math.round(stored.at), seed: stored.seed }
    const outcome = CallMachine.step(before, input, context)
    if (outcome.type !== "accepted")
      return {
        state: before,
        events,
        fault: `input ${stored.seq} (${input.type}) is ${outcome.type} when it is replayed`
      }
    const { effects, state }: { readonly effects: CallMachine.Effects; readonly state: CallState } = outcome
    for (const { body, id } of commitOf({ input, before, state, effects, context }, null, null).events)
      events.push(`${id} ${masked(body)}`)
    before = state
  }
  return { state: before, events, fault: null }
}

/** No call took longer than the time that passed, wherever clocks were set, and none ended before it was answered. */
export const durations = async ({ database, madeAt }: World): Promise<Lines> => {
  const rows = await database().query<{ readonly id: string; readonly secs: number }>(
    "SELECT id, duration_seconds AS secs FROM call WHERE duration_seconds > $1 OR ended_at < answered_at",
    [Math.ceil((performance.now() - madeAt) / 1000)]
  )
  return rows.map(({ id, secs }) => `${id} took ${secs} s, or ended before it was answered`)
}

/**
 * `balance_after` of every row is the sum so far, and the balance is the sum of all. An order is paid once, and owns
 * the numbers that it paid for.
 */
export const ledger = async (database: Database): Promise<Lines> => {
  const rows = await database.query<{ readonly line: string }>(`
    SELECT cause || ' leaves ' || balance_after_cents || ', the sum so far is ' || sum AS line FROM (
      SELECT cause, balance_after_cents, sum(amount_cents) OVER (PARTITION BY tenant_id ORDER BY ordinal) AS sum FROM ledger
    ) entry WHERE sum <> balance_after_cents
    UNION ALL
    SELECT 'tenant ' || b.tenant_id || ' has ' || b.balance_cents || ', its ledger says ' || coalesce(l.sum, 0)
    FROM balance b LEFT JOIN (SELECT tenant_id, sum(amount_cents) AS sum FROM ledger GROUP BY tenant_id) l USING (tenant_id)
    WHERE b.balance_cents <> coalesce(l.sum, 0)
    UNION ALL
    SELECT 'order ' || o.id || ' (' || o.status || ') of ' || coalesce(o.debited_cents, o.upfront_cost_cents) || ' cents was paid by '
      || coalesce(l.paid, 0) || ' and owns ' || coalesce(n.owned, 0) || ' of ' || jsonb_array_length(o.phone_numbers)
    FROM number_order o
      LEFT JOIN (SELECT reference_id, -sum(amount_cents) AS paid FROM ledger GROUP BY 1) l ON l.reference_id = o.id
      LEFT JOIN (SELECT order_id, count(*) AS owned FROM phone_number WHERE status = 'active' GROUP BY 1) n
        ON n.order_id = o.id
    WHERE o.status <> 'completed' OR coalesce(l.paid, 0) <> coalesce(o.debited_cents, o.upfront_cost_cents)
      OR coalesce(n.owned, 0) <> jsonb_array_length(o.phone_numbers)`)
  return rows.map(({ line }) => `ledger: ${line}`)
}

/** A BYE whose 200 the peer has was committed: no recovery may record the call as lost. */
const byes = async (database: Database, peer: SipPeer): Promise<Lines> => {
  const rows = await database.query<{ readonly id: string; readonly state: CallState; readonly recoveredAt: number }>(`
    SELECT e.id, e.state, (extract(epoch FROM j.at) * 1000)::float8 AS "recoveredAt"
    FROM entity e JOIN journal j ON j.entity_id = e.id AND j.input ->> 'type' = 'recovered'
    WHERE e.kind = 'call' AND e.state ->> 'endReason' = 'carrier_error'`)
  return rows.flatMap(({ id, recoveredAt, state }) => {
    const takenAt = peer.dialogs.get(sipCallIdOf(state) ?? "")?.byeTakenAt ?? null
    // `recoveredAt` is in the call's time. Without the call's offset it is in the time of its partition, which no step
    // of a wall clock changes.
    return takenAt === null || takenAt >= recoveredAt - state.timeOffsetMs
      ? []
      : [`the BYE of ${id} was answered by 200 before it was committed: the restart calls it lost`]
  })
}

/** Measured from the moment at which the next process serves. */
const legsWithinMs = 10_000
/** A leg whose peer is silent is given up after 64 * T1. */
const settledWithinMs = 45_000
/** A call is settled when its BYE is answered; the peer may report it a little later. */
const releasedWithinMs = 2_000
/** A recording is reported before its spool is emptied. */
const storedWithinMs = 5_000
/** An attempt that is under way has ended by then, because the receiver answers at once. */
const promptlyWithinMs = 3_000
/** A delivery that was claimed when an answer got lost comes back with its lease, after half a minute. */
const deliveredWithinMs = 45_000

/** The recordings of before, and the time at which the process died; null: it did not. */
interface Before {
  readonly recorded: ReadonlyArray<Recorded>
  readonly killedAt: number | null
}

/** Checks everything, after a restart whose unanswered requests were repeated, and without load. */
export const check = async (
  world: World,
  peer: SipPeer | null,
  { killedAt, recorded }: Before = { recorded: [], killedAt: null }
): Promise<Lines> => {
  const database = world.database()
  const { startedAt } = world.service()
  const lines: Array<string> = []
  // A repeated request may have placed a call, which lives on.
  if (peer !== null) lines.push(...(await eventually(legsWithinMs, () => legsDown(database, peer, startedAt))))
  lines.push(...(await eventually(settledWithinMs, () => settled(database))))
  if (peer !== null) lines.push(...(await eventually(releasedWithinMs, () => legsDown(database, peer, Infinity))))
  if ((await eventually(promptlyWithinMs, () => deliveries(world))).length > 0) await world.endLeases()
  lines.push(...(await eventually(deliveredWithinMs, () => deliveries(world))))
  lines.push(
    ...(await numbered(world)),
    ...(await effects(world)),
    ...(await sequences(database)),
    ...(await replays(database))
  )
  lines.push(...(await ledger(database)), ...(await durations(world)), ...(await Outcomes.outcomes(world)))
  lines.push(...(await RoomInvariants.stories(database)), ...(await RoomInvariants.replays(database)))
  lines.push(...(await RoomInvariants.calls(database)))
  lines.push(...(await eventually(storedWithinMs, () => Recordings.leftBehind(world))))
  lines.push(...(await Recordings.whole(world, recorded, killedAt)), ...(await Recordings.downloads(world)))
  lines.push(...world.receiver.streams.violations)
  if (peer !== null) lines.push(...(await rings(database, peer)), ...(await byes(database, peer)))
  lines.push(...world.faults().map((line) => `the service logged a fault: ${line}`))
  return lines
}
