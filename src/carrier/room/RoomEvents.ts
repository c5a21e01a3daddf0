import type { ConferenceId } from "../../domain/Id.ts"
import type { RoomEvent } from "./RoomEvent.ts"
import type { Told } from "../CarrierEvent.ts"

/** How many events of one room may wait for their commit; beyond it, the room ends. */
export const maxWaiting = 4_096

/** Reports the events of rooms: those of one room one after the other, each until it is durable. */
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

type Waiting = { readonly event: RoomEvent; readonly done: (told: Told) => void } | (() => void)

/** `run` reports an event until it is durable, then calls `settled`. */
export const make = (run: (event: RoomEvent, settled: (told: Told) => void) => void): RoomEvents => {
  /** The first event of each room is being reported. */
  const outboxes = new Map<ConferenceId, Array<Waiting>>()

  const next = (id: ConferenceId, outbox: Array<Waiting>): void => {
    const [head] = outbox
    if (head === undefined) return void outboxes.delete(id)
    const through = (): void => {
      outbox.shift()
      next(id, outbox)
    }
    if (typeof head === "function") {
      head()
      return through()
    }
    run(head.event, (told) => {
      head.done(told)
      through()
    })
  }

  const put = (id: ConferenceId, waiting: Waiting): void => {
    const outbox = outboxes.get(id)
    if (outbox !== undefined) return void outbox.push(waiting)
    const started = [waiting]
    outboxes.set(id, started)
    next(id, started)
  }

  /** Drops waiting events of the member's speaking. */
  const supersede = (event: RoomEvent & { readonly type: "member_speaking" }): void => {
    const outbox = outboxes.get(event.conferenceId) ?? []
    const at = outbox.findIndex(
      (each, index) =>
        index > 0 &&
        typeof each !== "function" &&
        each.event.type === "member_speaking" &&
        each.event.memberId === event.memberId
    )
    if (at > 0) outbox.splice(at, 1)
  }

  return {
    tell: (event, done) => {
      if (event.type === "member_speaking") supersede(event)
      const waiting = outboxes.get(event.conferenceId)?.length ?? 0
      if (waiting >= maxWaiting && event.type !== "over") return false
      put(event.conferenceId, { event, done })
      return true
    },
    caughtUp: put,
    size: () => outboxes.size
  }
}
