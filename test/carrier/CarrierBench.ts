import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Carrier, type CarrierCommand, type CarrierSink, type Order } from "../../src/carrier/Carrier.ts"
import { type RoomOrder, RoomSink } from "../../src/carrier/room/Rooms.ts"
import type { CallId, ConferenceId, LegId, RouteId } from "../../src/domain/Id.ts"
import * as Sample from "../support/fake/CarrierSample.ts"
import * as Ids from "../support/Ids.ts"
import { RecordingSink } from "./RecordingSink.ts"
import type { PlainRoom } from "./room/RoomMedia.ts"

/** The surroundings of an adapter: its peers, and time. */
export class Outside extends Context.Service<
  Outside,
  {
    /** A peer begins to call `to`, and waits for our answer. */
    readonly callIn: (call: { readonly from: string; readonly to: string }) => Effect.Effect<void>
    /** Lets this time pass, virtual or real, with all its consequences. */
    readonly elapse: (ms: number) => Effect.Effect<void>
  }
>()("trunkline/test/carrier/Outside") {}

export interface Subject {
  /** The name under which the adapter registers itself. */
  readonly adapter: string
  readonly routeId: RouteId
  /** Far parties by their reaction to a call, each within two seconds. */
  readonly phones: {
    /** Rings, answers, sends every received digit back. */
    readonly answers: string
    readonly busy: string
    /** Rings for ever. */
    readonly silent: string
    /** Rings, then refuses with 403 or 603. */
    readonly rejects: string
    /** Sends early media, then answers, within four seconds. */
    readonly early: string
    /** Answers, and refuses to be referred. */
    readonly refusesReferral: string
  }
  /** Rings, answers, and hangs up within this time. */
  readonly hangsUp: { readonly number: string; readonly withinMs: number }
  readonly sounds: {
    /** A sound of half a second to a second. */
    readonly good: string
    /** Its server answers 404. */
    readonly missing: string
  }
  readonly layer: Layer.Layer<Carrier | Outside | RoomSink, never, CarrierSink>
}

/** A command without the fields that identify it. */
export type Plain = CarrierCommand extends infer Command
  ? Command extends CarrierCommand
    ? Omit<Command, "commandId" | "callId" | "legId">
    : never
  : never

export const newOwner = { ...Sample.authority, epoch: Sample.authority.epoch + 1 }

const benchOf = (subject: Subject) =>
  Effect.gen(function* () {
    const carrier = yield* Carrier
    const outside = yield* Outside
    const sink = yield* RecordingSink
    let commands = 0
    let last: Effect.Effect<void> = Effect.void
    const give = (order: Order) => {
      last = carrier.interpret(subject.adapter, order)
      return last
    }
    const rooms = Effect.sync(() => {
      const found = carrier.rooms(subject.adapter)
      expect.assert(found !== null, "it has rooms")
      return found
    })
    const giveRoom = (order: RoomOrder) => {
      last = Effect.flatMap(rooms, ({ interpret }) => interpret(order))
      return last
    }
    const roomOrderOf = (conferenceId: ConferenceId, command: PlainRoom): RoomOrder => ({
      authority: Sample.authority,
      command: { ...command, commandId: Ids.command(`command ${++commands}`), conferenceId }
    })
    yield* (yield* RoomSink).listen(sink.rooms.listener)
    const orderOf = (legId: LegId, command: Plain, callId = Ids.call(`call of ${legId}`)) =>
      Sample.order({ ...command, commandId: Ids.command(`command ${++commands}`), callId, legId })
    const send = (legId: LegId, command: Plain, callId?: CallId) => give(orderOf(legId, command, callId))
    return {
      sink,
      send,
      elapse: outside.elapse,
      dial: (to: string, legId = Ids.leg("leg"), more: { readonly audioUrl?: string } = {}) =>
        Effect.as(
          send(legId, {
            type: "dial",
            tenantId: Ids.tenant("t"),
            routeId: subject.routeId,
            from: "+12025550190",
            to,
            ...more
          }),
          legId
        ),
      /** A call arrives and waits. */
      callIn: Effect.gen(function* () {
        yield* outside.callIn({ from: "+12025550191", to: "+12025550160" })
        yield* outside.elapse(500)
        const offer = sink.offers.at(-1)
        expect.assert(offer !== undefined, "the call was offered")
        return offer
      }),
      /** Sends the last command once more. */
      again: Effect.suspend(() => last),
      asNewOwner: (legId: LegId, command: Plain) => give({ ...orderOf(legId, command), authority: newOwner }),
      /** Another process owns the journal now, and asks for a snapshot. */
      takeOver: Effect.asVoid(carrier.snapshot(subject.adapter, newOwner, [])),
      incarnation: () => carrier.incarnation(subject.adapter),
      snapshot: (legIds: ReadonlyArray<LegId> | null) => carrier.snapshot(subject.adapter, Sample.authority, legIds),
      caughtUp: (legId: LegId) => carrier.caughtUp(subject.adapter, legId),
      presence: (legId: LegId) => Sample.presence(carrier, subject.adapter, legId),
      /** Sends a command to a room. */
      tell: (conferenceId: ConferenceId, command: PlainRoom) => giveRoom(roomOrderOf(conferenceId, command)),
      tellAsNewOwner: (conferenceId: ConferenceId, command: PlainRoom) =>
        giveRoom({ ...roomOrderOf(conferenceId, command), authority: newOwner }),
      takeRoomsOver: Effect.flatMap(rooms, ({ snapshot }) => Effect.asVoid(snapshot(newOwner, []))),
      roomSnapshot: (ids: ReadonlyArray<ConferenceId> | null) =>
        Effect.flatMap(rooms, ({ snapshot }) => snapshot(Sample.authority, ids)),
      roomCaughtUp: (conferenceId: ConferenceId) => Effect.flatMap(rooms, ({ caughtUp }) => caughtUp(conferenceId)),
      /** Legs that were dialled at once, and answered. */
      talking: (...names: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const legs = names.map(Ids.leg)
          for (const legId of legs)
            yield* send(legId, {
              type: "dial",
              tenantId: Ids.tenant("t"),
              routeId: subject.routeId,
              from: "+12025550190",
              to: subject.phones.answers
            })
          yield* outside.elapse(3000)
          return legs
        })
    }
  })

export type Bench = Effect.Success<ReturnType<typeof benchOf>>

/** Runs a test with an adapter, and with calls and conferences above it that only record. */
export const contractOf =
  (subject: Subject) =>
  (title: string, test: (use: Bench) => Effect.Effect<void>): void =>
    it.effect(title, () =>
      Effect.provide(Effect.flatMap(benchOf(subject), test), Layer.provideMerge(subject.layer, RecordingSink.layer))
    )
