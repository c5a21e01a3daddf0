import { Context, Effect, Layer } from "effect"
import {
  type Admission,
  type CarrierEvent,
  CarrierSink,
  type InboundOffer,
  type LegReport,
  type Told as Answer
} from "../../src/carrier/Carrier.ts"
import type { RoomEvent, RoomListener, RoomReport } from "../../src/carrier/room/Rooms.ts"
import type { CallId, ConferenceId, LegId } from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"

export interface Told {
  readonly callId: CallId
  readonly event: CarrierEvent
}

interface Rooms {
  /** The listener to pass to the `RoomSink`. */
  readonly listener: RoomListener
  readonly told: ReadonlyArray<RoomEvent>
  /** Sets the outcome of events from now on; at first they are committed at once. */
  readonly commit: (rule: (event: RoomEvent) => Effect.Effect<Answer>) => void
  /** The reports of a room without its name, time and number; a report repeated under its number counts once. */
  readonly of: (conferenceId: ConferenceId) => ReadonlyArray<RoomReport>
}

const makeRooms = (): Rooms => {
  const told: Array<RoomEvent> = []
  let commit: (event: RoomEvent) => Effect.Effect<Answer> = () => Effect.succeed("committed")
  return {
    told,
    // All or none are taken: the first other answer is that of all.
    listener: (_, ...events) =>
      Effect.suspend(() => {
        told.push(...events)
        return Effect.map(
          Effect.forEach(events, (event) => commit(event)),
          (answers) => answers.find((answer) => answer !== "committed") ?? "committed"
        )
      }),
    commit: (rule) => void (commit = rule),
    of: (id) => {
      let last = 0
      return told.flatMap((event) => {
        if (event.conferenceId !== id || event.n <= last) return []
        last = event.n
        const { at: _at, conferenceId: _conferenceId, incarnation: _incarnation, n: _n, ...report } = event
        return [report]
      })
    }
  }
}

/** The calls and the conferences above a carrier, as lists of the reports that they got. */
export class RecordingSink extends Context.Service<
  RecordingSink,
  {
    readonly told: ReadonlyArray<Told>
    readonly offers: ReadonlyArray<InboundOffer>
    /** Sets the answer to offers from now on; at first each is admitted as `call of <legId>`. */
    readonly admit: (rule: (offer: InboundOffer) => Effect.Effect<Admission>) => void
    /** Sets the outcome of a `tell` from now on; at first it is committed at once. */
    readonly commit: (rule: (told: Told) => Effect.Effect<Answer>) => void
    /** The reports of a leg without its name, time and number. */
    readonly of: (legId: LegId) => ReadonlyArray<LegReport>
    readonly rooms: Rooms
  }
>()("trunkline/test/carrier/RecordingSink") {
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      const told: Array<Told> = []
      const offers: Array<InboundOffer> = []
      let admit: (offer: InboundOffer) => Effect.Effect<Admission> = ({ legId }) =>
        Effect.succeed({ admitted: true, callId: Ids.call(`call of ${legId}`), routeId: null })
      let commit: (told: Told) => Effect.Effect<Answer> = () => Effect.succeed("committed")
      const sink = CarrierSink.of({
        offer: (offer) =>
          Effect.suspend(() => {
            offers.push(offer)
            return admit(offer)
          }),
        tell: (callId, event) =>
          Effect.suspend(() => {
            told.push({ callId, event })
            return commit({ callId, event })
          })
      })
      const recording = RecordingSink.of({
        told,
        offers,
        rooms: makeRooms(),
        admit: (rule) => void (admit = rule),
        commit: (rule) => void (commit = rule),
        of: (legId) =>
          told.flatMap(({ event }) => {
            if (event.legId !== legId) return []
            const { at: _at, incarnation: _incarnation, legId: _legId, n: _n, ...report } = event
            return [report]
          })
      })
      return Context.make(CarrierSink, sink).pipe(Context.add(RecordingSink, recording))
    })
  )
}
