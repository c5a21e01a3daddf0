import { Clock, Context, Effect, Exit, FiberSet, Layer } from "effect"
import * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { type Entry, entryOf, type MemberChange } from "../../ports/media/MemberChange.ts"
import type { MediaCommand, MediaEvent } from "../../ports/media/MediaMessage.ts"
import type { Bridgeable } from "../bridge/Bridges.ts"
import * as OrderMemory from "../OrderMemory.ts"
import type { Told } from "../CarrierEvent.ts"
import type { RoomEvent, RoomReport } from "./RoomEvent.ts"
import * as RoomBook from "./RoomBook.ts"
import * as RoomEvents from "./RoomEvents.ts"
import type { RoomMedia } from "./RoomMedia.ts"
import { type Rooms, RoomSink } from "./Rooms.ts"
import * as Telling from "../Telling.ts"

interface Refusal {
  readonly reason: string
}

/** Receives the events of a room's media. */
interface Listener {
  readonly told: (event: MediaEvent) => void
  readonly lost: () => void
  readonly closed: () => void
  readonly spoke: (memberId: Id.MemberId, isSpeaking: boolean) => void
}

/**
 * The part of a media plane that rooms need, where a room is a leg. The contracts are in `media/plane/MediaPlane.ts`.
 */
export interface Plane {
  readonly openRoom: (room: Id.LegId, tenant: Id.TenantId, near: Id.LegId) => Effect.Effect<void, Refusal>
  readonly enterRoom: (leg: Id.LegId, room: Id.LegId, entry: Entry) => Effect.Effect<void, Refusal>
  readonly leaveRoom: (leg: Id.LegId) => Effect.Effect<void>
  readonly changeMember: (room: Id.LegId, memberId: Id.MemberId, change: MemberChange) => Effect.Effect<void>
  readonly beep: (room: Id.LegId, except: Id.MemberId | null) => Effect.Effect<void>
  readonly command: (
    room: Id.LegId,
    tenant: Id.TenantId,
    media: MediaCommand,
    to?: ReadonlyArray<Id.MemberId>
  ) => Effect.Effect<void>
  readonly close: (room: Id.LegId) => Effect.Effect<void>
  readonly subscribe: (room: Id.LegId, listener: Listener) => Effect.Effect<void>
}

/** A carrier with legs in the plane. */
export interface Options {
  /** The incarnation of the carrier, which its rooms share. */
  readonly incarnation: string
  readonly legOf: (legId: Id.LegId) => Bridgeable | null
  readonly unbridge: (legId: Id.LegId) => void
}

/** The rooms of a carrier for its registration, and the operations for its legs. */
export interface Joined extends Pick<RoomBook.RoomBook, "join" | "leave" | "part" | "ended"> {
  readonly rooms: Rooms
}

/** How long to wait for a closing room: the plane reports the rest within milliseconds, or not at all. */
const closingPatienceMs = 1_000
/** How many commands of a room are remembered: a few for each of 250 members. */
const commandsRemembered = 1_024

/** The room as a leg of the plane. */
const legOf = (id: Id.ConferenceId): Id.LegId => Id.derive(id, "leg")

/**
 * The rooms of all carriers in this process whose legs share one media plane: any of these legs can join any of these
 * rooms, whichever carriers have them. Each carrier gets the commands for its own legs and for the rooms that it made.
 */
export class SharedRooms extends Context.Service<
  SharedRooms,
  {
    /** Adds a carrier whose legs are in `plane`, for as long as the plane lives. */
    readonly add: (plane: Plane, carrier: Options) => Joined
  }
>()("trunkline/carrier/SharedRooms") {
  static readonly layer = Layer.effect(
    SharedRooms,
    Effect.gen(function* () {
      const sink = yield* RoomSink
      const clock = yield* Clock.Clock
      const fork = yield* FiberSet.makeRuntime()
      const run: Run = (effect, settled = ignore) => {
        fork(effect).addObserver(settled)
      }
      const planes = new WeakMap<Plane, ReturnType<typeof makeShared>>()
      return SharedRooms.of({
        add: (plane, carrier) => {
          const shared = planes.get(plane) ?? makeShared({ plane, run, sink, now: () => Monotonic.read(clock) })
          planes.set(plane, shared)
          return shared.add(carrier)
        }
      })
    })
  )
}

type Run = <A, E>(effect: Effect.Effect<A, E>, settled?: (exit: Exit.Exit<A, E>) => void) => void
const ignore = (): void => undefined

/** The rooms of one plane. */
const makeShared = (given: {
  readonly plane: Plane
  readonly run: Run
  readonly sink: RoomSink["Service"]
  readonly now: () => number
}) => {
  const { now, plane, run, sink } = given
  const carriers: Array<Options> = []
  const carrierOf = (legId: Id.LegId): Options | null => carriers.find(({ legOf }) => legOf(legId) !== null) ?? null
  /** Functions to call when the room has closed in the plane. */
  const closing = new Map<Id.ConferenceId, () => void>()
  /** Functions that wait for the end of a room that is not reported yet. */
  const behindEnds = new Map<Id.ConferenceId, Array<() => void>>()

  const memory = OrderMemory.make({
    now,
    isLive: (id: Id.ConferenceId) => book.ownerOf(id) !== null,
    idCapacity: commandsRemembered
  })

  const settledWith =
    (settled: (refusal: string | null) => void) =>
    (exit: Exit.Exit<string | null>): void =>
      settled(Exit.isSuccess(exit) ? exit.value : "plane_stopped")
  const refusalOf = (asked: Effect.Effect<void, Refusal>): Effect.Effect<string | null> =>
    Effect.match(asked, { onSuccess: () => null, onFailure: ({ reason }) => reason })

  const closed = (id: Id.ConferenceId): void => {
    const then = closing.get(id)
    closing.delete(id)
    then?.()
  }

  const media: RoomMedia = {
    open: ({ conferenceId, near, tenantId }, settled) => {
      const room = legOf(conferenceId)
      const listener: Listener = {
        told: (event) => book.told(conferenceId, event),
        lost: () => {
          book.lost(conferenceId)
          // A lost room must be closed here, because no other code frees its place.
          run(plane.close(room))
        },
        closed: () => closed(conferenceId),
        spoke: (memberId, isSpeaking) => book.spoke(conferenceId, memberId, isSpeaking)
      }
      run(plane.subscribe(room, listener))
      run(refusalOf(plane.openRoom(room, tenantId, near)), settledWith(settled))
    },
    enter: (command, settled) =>
      run(
        refusalOf(plane.enterRoom(command.legId, legOf(command.conferenceId), entryOf(command))),
        settledWith(settled)
      ),
    leave: (legId) => run(plane.leaveRoom(legId)),
    change: (conferenceId, memberId, change) => run(plane.changeMember(legOf(conferenceId), memberId, change)),
    beep: (conferenceId, except) => run(plane.beep(legOf(conferenceId), except)),
    command: ({ conferenceId, media: asked, tenantId, to }) =>
      run(plane.command(legOf(conferenceId), tenantId, asked, to ?? undefined)),
    close: (conferenceId, then) => {
      closing.set(conferenceId, then)
      run(plane.close(legOf(conferenceId)))
      run(Effect.sleep(closingPatienceMs), () => {
        if (closing.get(conferenceId) === then) closed(conferenceId)
      })
    }
  }

  const report = (all: ReadonlyArray<RoomEvent>): Effect.Effect<Told> => {
    const [event] = all
    if (event === undefined) return Effect.succeed("committed")
    const told = sink.tell(event.conferenceId, ...all)
    return all.length > 1
      ? Telling.once(told)
      : // An entry that its member left without a report is as bad as a leg that never ends.
        Telling.untilDurable(told, event.type === "over" || event.type === "member_left")
  }

  const events = RoomEvents.make((all, settled) =>
    run(
      // The separate turn keeps the outcome of an event from arriving in the middle of the step that reports it.
      Effect.andThen(Effect.yieldNow, report(all)),
      (exit) => settled(Exit.isSuccess(exit) ? exit.value : "fault")
    )
  )

  const tell = (by: string, conferenceId: Id.ConferenceId, report: RoomReport): void => {
    const isEnd = report.type === "over"
    const n = memory.next(conferenceId, isEnd)
    const isTold = events.tell({ conferenceId, at: now(), incarnation: by, n, ...report }, (told) => {
      if (isEnd) book.forget(conferenceId)
      else if (told === "unknown") book.disowned(conferenceId)
    })
    if (!isTold) book.disowned(conferenceId)
    if (!isEnd) return
    for (const then of behindEnds.get(conferenceId) ?? []) events.caughtUp(conferenceId, then)
    behindEnds.delete(conferenceId)
  }

  const book = RoomBook.make({
    legOf: (legId) => carrierOf(legId)?.legOf(legId) ?? null,
    unbridge: (legId) => carrierOf(legId)?.unbridge(legId),
    tell,
    media,
    now
  })

  const caughtUp = (id: Id.ConferenceId, then: () => void): void => {
    if (book.isEnding(id)) behindEnds.set(id, [...(behindEnds.get(id) ?? []), then])
    else events.caughtUp(id, then)
  }

  const roomsOf = (incarnation: string): Rooms => ({
    interpret: ({ authority, command }) =>
      Effect.sync(() => {
        const { commandId, conferenceId } = command
        if (memory.admits(authority, conferenceId, commandId) !== "no") book.command(incarnation, command)
      }),
    snapshot: (authority, ids) =>
      Effect.sync(() => {
        memory.obey(authority)
        const own = ids?.filter((id) => book.ownerOf(id) === incarnation) ?? book.roomsOf(incarnation)
        const rooms = own.map((id) => [id, { n: memory.last(id), members: book.members(id) }] as const)
        return { incarnation, rooms: Object.fromEntries(rooms) }
      }),
    caughtUp: (id) => Effect.callback((resume) => caughtUp(id, () => resume(Effect.void)))
  })

  return {
    add: (carrier: Options): Joined => {
      carriers.push(carrier)
      const { ended, join, leave, part } = book
      return { join, leave, part, ended, rooms: roomsOf(carrier.incarnation) }
    }
  }
}
