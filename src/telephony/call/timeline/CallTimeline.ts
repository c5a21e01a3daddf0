import { machineVersion } from "../machine/CallMachine.ts"
import * as CallSealing from "../stored/CallSealing.ts"
import * as Upgrade from "../stored/Upgrade.ts"
import * as Envelope from "../../../domain/event/Envelope.ts"
import type { CallId, DeliveryId, EventId, TenantId } from "../../../domain/Id.ts"
import type { Json, StoredInput, StoredOf } from "../../../runtime/store/journal/Journal.ts"
import * as Replay from "./Replay.ts"

/** A row of `webhook_delivery`; times are epoch milliseconds. */
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

interface Gone {
  /** Retention may have deleted the journal, so nothing is replayed. */
  readonly journal: boolean
  /**
   * Retention may have deleted events from before this moment, in epoch milliseconds; null when it has deleted none.
   */
  readonly eventsBefore: number | null
}

/**
 * The timeline of one call: each input with the state after it, the commands and events that it caused, and the
 * deliveries of each event. Digits and secrets in URLs are masked.
 */
export interface CallTimeline {
  readonly callId: CallId
  readonly tenantId: TenantId
  readonly seq: number
  readonly settled: boolean
  readonly stored: Json
  /** True when the journal was deleted because of its age: there are no steps, and nothing was compared. */
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
  /** True when a replay of the journal gives the stored state and the stored events. */
  readonly agrees: boolean
  readonly differences: ReadonlyArray<Replay.Difference>
}

/** Pure. It leaves out inputs, events and deliveries that were committed after `entity` was read. */
export const make = (
  entity: StoredOf<"call">,
  allInputs: ReadonlyArray<StoredInput>,
  allEvents: ReadonlyArray<StoredEvent>,
  deliveries: ReadonlyArray<Delivery>,
  gone: Gone
): CallTimeline => {
  const known = allInputs.filter((input) => input.seq <= entity.seq)
  const isJournalGone = gone.journal && known.length < entity.seq
  // A part of a journal does not give a state.
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
 * Compares the events that the machine raises now with the stored ones. An event from before `goneBefore` may be
 * missing, and so may a field that an earlier version of the machine did not have.
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
          path === "" || told !== null || raised === undefined || raised.machineVersion === machineVersion
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
