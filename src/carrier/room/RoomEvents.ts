import type { ConferenceId } from "../../domain/Id.ts"
import type { RoomEvent } from "./RoomEvent.ts"
import type { Told } from "../CarrierEvent.ts"

/** How many events of one room may wait for their commit; beyond it, the room ends. */
export const maxWaiting = 4_096

/** How many events of one room are reported, and committed, at once. */
const mostAtOnce = 128

/**
 * Reports the events of rooms. Those of one room are reported in order, each report until it is durable; the events
 * that came meanwhile are the next report. So a command for many members, or the entry of many, costs a few commits.
 */
interface RoomEvents {
  /**
   * `done` is called when the event is durable, when the room has no owner, or when it was given up (`fault`). False
   * when too many wait, and the event is not reported. The last event of a room (`over`) always is.
   *
   * Only the last state of a member's speaking waits, after the events that wait already.
   */
  readonly tell: (event: RoomEvent, done: (told: Told) => void) => boolean
  /** Calls `then` when every event that the room has reported so far is durable or given up. */
  readonly caughtUp: (id: ConferenceId, then: () => void) => void
  /** The number of rooms that have events to report. */
  readonly size: () => number
}

interface Reported {
  readonly event: RoomEvent
  readonly done: (told: Told) => void
}
type Waiting = Reported | (() => void)

interface Outbox {
  readonly waiting: Array<Waiting>
  /** How many of the first events are being reported. */
  reporting: number
  /** How many of the first events are reported one by one, because a report of them together failed. */
  alone: number
}

/**
 * `run` reports events until they are durable, then calls `settled`. Events whose report fails together are reported
 * one by one, so that one which cannot be committed costs no other.
 */
export const make = (run: (events: ReadonlyArray<RoomEvent>, settled: (told: Told) => void) => void): RoomEvents => {
  const outboxes = new Map<ConferenceId, Outbox>()

  const next = (id: ConferenceId, outbox: Outbox): void => {
    const [head] = outbox.waiting
    if (head === undefined) return void outboxes.delete(id)
    if (typeof head === "function") {
      outbox.waiting.shift()
      head()
      return next(id, outbox)
    }
    const batch = outbox.alone > 0 ? [head] : batchOf(outbox.waiting)
    outbox.reporting = batch.length
    run(
      batch.map(({ event }) => event),
      (told) => {
        outbox.reporting = 0
        if (told === "fault" && batch.length > 1) outbox.alone = batch.length
        else {
          outbox.waiting.splice(0, batch.length)
          outbox.alone = Math.max(0, outbox.alone - batch.length)
          for (const { done } of batch) done(told)
        }
        next(id, outbox)
      }
    )
  }

  const put = (id: ConferenceId, waiting: Waiting): void => {
    const outbox = outboxes.get(id)
    if (outbox !== undefined) return void outbox.waiting.push(waiting)
    const started = { waiting: [waiting], reporting: 0, alone: 0 }
    outboxes.set(id, started)
    next(id, started)
  }

  /** Drops waiting events of the member's speaking. */
  const supersede = (event: RoomEvent & { readonly type: "member_speaking" }): void => {
    const outbox = outboxes.get(event.conferenceId)
    if (outbox === undefined) return
    const at = outbox.waiting.findIndex(
      (each, index) =>
        index >= Math.max(1, outbox.reporting, outbox.alone) &&
        typeof each !== "function" &&
        each.event.type === "member_speaking" &&
        each.event.memberId === event.memberId
    )
    if (at > 0) outbox.waiting.splice(at, 1)
  }

  return {
    tell: (event, done) => {
      if (event.type === "member_speaking") supersede(event)
      const waiting = outboxes.get(event.conferenceId)?.waiting.length ?? 0
      if (waiting >= maxWaiting && event.type !== "over") return false
      put(event.conferenceId, { event, done })
      return true
    },
    caughtUp: put,
    size: () => outboxes.size
  }
}

/** The end of a room is reported by itself, because it is repeated for longer than other events. */
const isApart = ({ event }: Reported): boolean => event.type === "over"

const isSpeaking = ({ event }: Reported): boolean => event.type === "member_speaking"

/**
 * The first events that may be reported together: up to a waiting function, or to the other kind. Whether an event of
 * speaking is wanted is decided by the state before its report, so the entry of the member is not in the same one.
 */
const batchOf = (waiting: ReadonlyArray<Waiting>): ReadonlyArray<Reported> => {
  const batch: Array<Reported> = []
  for (const each of waiting) {
    const [first] = batch
    if (typeof each === "function" || batch.length === mostAtOnce) break
    if (first !== undefined && (isApart(first) || isApart(each) || isSpeaking(first) !== isSpeaking(each))) break
    batch.push(each)
  }
  return batch
}
