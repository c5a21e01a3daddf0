import { Context, Effect, Layer } from "effect"
import {
  type Admission,
  type CarrierEvent,
  CarrierSink,
  type InboundOffer,
  type LegReport,
  type Told as Answer
} from "../../src/carrier/Carrier.ts"
import type { CallId, LegId } from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"

export interface Told {
  readonly callId: CallId
  readonly event: CarrierEvent
}

/** The calls above a carrier, as a list of what they were told. */
export class RecordingSink extends Context.Service<
  RecordingSink,
  {
    readonly told: ReadonlyArray<Told>
    readonly offers: ReadonlyArray<InboundOffer>
    /** How offers are answered from now on; at first each is admitted as `call of <legId>`. */
    readonly admit: (rule: (offer: InboundOffer) => Effect.Effect<Admission>) => void
    /** What becomes of a `tell` from now on; at first it is committed at once. */
    readonly commit: (rule: (told: Told) => Effect.Effect<Answer>) => void
    /** What was told of a leg, without its name, time and number. */
    readonly of: (legId: LegId) => ReadonlyArray<LegReport>
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
