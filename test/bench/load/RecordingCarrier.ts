import { Context, Effect, Layer } from "effect"
import { Carrier, CarrierSink, type LegReport } from "../../../src/carrier/Carrier.ts"
import type { CallId, LegId } from "../../../src/domain/Id.ts"
import * as Sample from "../../support/fake/CarrierSample.ts"

export interface DialledLeg {
  readonly callId: CallId
  readonly legId: LegId
}

/** A carrier that only records its dials, and reports to the calls the events that the bench chooses. */
export class RecordingCarrier extends Context.Service<
  RecordingCarrier,
  {
    /** The legs dialled since the last `take`, in order. */
    readonly take: () => ReadonlyArray<DialledLeg>
    readonly answered: (leg: DialledLeg) => Effect.Effect<void>
    readonly hungUp: (leg: DialledLeg) => Effect.Effect<void>
    readonly digit: (leg: DialledLeg) => Effect.Effect<void>
    /** The adapter's resume value of the leg has changed, which holds no secret and causes no public event. */
    readonly moved: (leg: DialledLeg) => Effect.Effect<void>
  }
>()("trunkline/bench/RecordingCarrier") {
  static readonly adapter = "recording"

  static readonly layer = Layer.effect(
    RecordingCarrier,
    Effect.gen(function* () {
      const carrier = yield* Carrier
      const sink = yield* CarrierSink
      let dialled: Array<DialledLeg> = []
      const adapter = Sample.adapter((command) =>
        Effect.sync(() => {
          if (command.type === "dial") dialled.push({ callId: command.callId, legId: command.legId })
        })
      )
      yield* carrier.register(RecordingCarrier.adapter, adapter)
      const event = Sample.numbered()
      const tell = ({ callId, legId }: DialledLeg, report: (at: number) => LegReport) =>
        Effect.suspend(() => {
          const at = Date.now()
          return Effect.asVoid(sink.tell(callId, event(legId, at, report(at))))
        })
      return RecordingCarrier.of({
        take: () => {
          const taken = dialled
          dialled = []
          return taken
        },
        answered: (leg) => tell(leg, () => ({ type: "answered", resume: null })),
        hungUp: (leg) => tell(leg, () => ({ type: "ended", cause: "hangup", sipStatus: null, by: "far" })),
        digit: (leg) => tell(leg, (at) => ({ type: "media", event: { type: "dtmf", digit: "5", at } })),
        moved: (leg) => tell(leg, (at) => ({ type: "answered", resume: { contact: `sip:${at}@peer.example` } }))
      })
    })
  )
}
