import { CallMachine, CallSealing, Upgrade } from "../../../telephony/call/Call.ts"
import * as Envelope from "../../../domain/event/Envelope.ts"
import type { CallId, DeliveryId, EventId, TenantId } from "../../../domain/Id.ts"
import type { Json, StoredInput, StoredOf } from "../../../runtime/store/journal/Journal.ts"
import * as Replay from "./Replay.ts"

/** A row of `webhook_delivery` as the timeline shows it; times are epoch milliseconds. */
export interface Delivery {
  readonly eventId: EventId
  readonly deliveryId: DeliveryId
  readonly endpoint: string
  readonly attemptNo: number
  readonly status: string
  readonly responseStatusCode: number | null
  readonly errorMessage: string | null
  readonly sentAt: number | null
  readonly nextRetryAt: number | null
}

export interface StoredEvent {
  readonly id: EventId
  readonly sequence: number
  readonly type: string
  readonly occurredAt: number
  /** The rendered envelope, guide/webhooks.md#the-request. */
  readonly body: string
}

/** What retention may have taken of a call. */
interface Gone {
  /** Its journal: nothing is replayed. */
  readonly journal: boolean
  /** Events from before this moment, in epoch milliseconds; null: none. */
  readonly eventsBefore: number | null
}

/**
 * The timeline of one call: each input with the state after it, the commands and events that it caused, and what became
 * of the deliveries of each event. Digits and secrets in URLs are masked.
 */
export interface CallTimeline {
  readonly callId: CallId
  readonly tenantId: TenantId
  readonly seq: number
  readonly settled: boolean
  readonly stored: Json
  /** Its journal was deleted because of its age: there are no steps, and nothing was compared. */
  readonly isJournalGone: boolean
  readonly steps: ReadonlyArray<Replay.Step & { readonly eventSequences: ReadonlyArray<number> }>
  readonly events: ReadonlyArray<{
    readonly id: EventId
    readonly sequence: number
    readonly type: string
    readonly occurredAt: number
    readonly data: Json
    readonly deliveries: ReadonlyArray<Delivery>
  }>
  /** True: replaying the journal gives the stored state and the stored events. */
  readonly agrees: boolean
  readonly differences: ReadonlyArray<Replay.Difference>
}

/** Pure. What was committed after `entity` was read (later inputs, events, deliveries of them) is left out. */
export const make = (
  entity: StoredOf<"call">,
  allInputs: ReadonlyArray<StoredInput>,
  allEvents: ReadonlyArray<StoredEvent>,
  deliveries: ReadonlyArray<Delivery>,
  gone: Gone
): CallTimeline => {
  const known = allInputs.filter((input) => input.seq <= entity.seq)
  const isJournalGone = gone.journal && known.length < entity.seq
  // A part of a journal gives no state.
  const inputs = isJournalGone ? [] : known
  const stored = CallSealing.maskState(Upgrade.shape(entity))
  const replayed = Replay.replay(inputs)
  let sequence = 0
  const steps = replayed.map((step) => ({ ...step, eventSequences: step.events.map(() => ++sequence) }))
  const lastSequence = sequenceOf(entity.state) ?? sequence
  const events = allEvents.filter((event) => event.sequence <= lastSequence)
  const byEvent = Map.groupBy(deliveries, (delivery) => delivery.eventId)
  const differences = isJournalGone
    ? []
    : [
        ...gaps(inputs, entity.seq),
        ...steps.flatMap(({ fault, seq }) =>
          fault === null ? [] : [{ path: `input ${seq}`, replayed: fault, stored: "accepted" }]
        ),
        ...Replay.differences(steps.at(-1)?.state ?? null, stored),
        ...eventDifferences(
          replayed.flatMap((step) =>
            step.events.map((event) => ({ ...event, at: step.at, machineVersion: step.machineVersion }))
          ),
          events,
          gone.eventsBefore ?? 0
        )
      ]
  return {
    callId: entity.id,
    tenantId: entity.tenantId,
    seq: entity.seq,
    settled: entity.settled,
    stored,
    isJournalGone,
    steps,
    events: events.map(({ body, id, occurredAt, sequence, type }) => ({
      id,
      sequence,
      type,
      occurredAt,
      data: Envelope.masked(type, dataOf(body)),
      deliveries: byEvent.get(id) ?? []
    })),
    agrees: differences.length === 0,
    differences
  }
}

const gaps = (inputs: ReadonlyArray<StoredInput>, last: number): ReadonlyArray<Replay.Difference> => {
  const there = new Set(inputs.map((input) => input.seq))
  const missing = Array.from({ length: last }, (_, index) => index + 1).filter((seq) => !there.has(seq))
  return missing.map((seq) => ({ path: `input ${seq}`, replayed: "missing from the journal", stored: "committed" }))
}

/**
 * The events that the machine raises now against those that were stored and delivered then. An event from before
 * `goneBefore` may be missing, and so may a field of one that an earlier version of the machine told without it.
 */
const eventDifferences = (
  replayed: ReadonlyArray<{
    readonly type: string
    readonly data: unknown
    readonly at: number
    readonly machineVersion: number
  }>,
  stored: ReadonlyArray<StoredEvent>,
  goneBefore: number
): ReadonlyArray<Replay.Difference> => {
  const bySequence = new Map(stored.map((event) => [event.sequence, event]))
  const last = Math.max(replayed.length, ...bySequence.keys())
  return Array.from({ length: last }, (_, index) => index + 1).flatMap((sequence) => {
    const raised = replayed[sequence - 1]
    const kept = bySequence.get(sequence)
    if (kept === undefined && raised !== undefined && raised.at < goneBefore) return []
    return Replay.differences(
      raised === undefined ? null : { type: raised.type, data: raised.data },
      kept === undefined ? null : { type: kept.type, data: Envelope.masked(kept.type, dataOf(kept.body)) }
    )
      .filter(
        ({ path, stored: told }) =>
          path === "" || told !== null || raised === undefined || raised.machineVersion === CallMachine.machineVersion
      )
      .map((difference) => ({
        ...difference,
        path: difference.path === "" ? `event ${sequence}` : `event ${sequence}.${difference.path}`
      }))
  })
}

const sequenceOf = (state: Json): number | null =>
  typeof state === "object" && state !== null && "sequence" in state && typeof state["sequence"] === "number"
    ? state["sequence"]
    : null

const dataOf = (body: string): Json => {
  const envelope = JSON.parse(body) as { readonly data?: Json }
  return envelope.data ?? null
}
