import { Context, Effect, Layer } from "effect"
import { Carrier, CarrierSink } from "../../src/carrier/Carrier.ts"

export interface DialledLeg {
  readonly callId: string
  readonly legId: string
}

/** A carrier that only records what it was told to dial, and tells the calls what the bench wants to have happened. */
export class RecordingCarrier extends Context.Service<
  RecordingCarrier,
  {
    /** Legs dialled since the last `take`, in order. */
    readonly take: () => ReadonlyArray<DialledLeg>
    readonly answered: (leg: DialledLeg) => Effect.Effect<void>
    readonly hungUp: (leg: DialledLeg) => Effect.Effect<void>
    readonly digit: (leg: DialledLeg) => Effect.Effect<void>
  }
>()("trunkline/bench/RecordingCarrier") {
  static readonly adapter = "recording"

  static readonly layer = Layer.effect(
    RecordingCarrier,
    Effect.gen(function* () {
      const carrier = yield* Carrier
      const sink = yield* CarrierSink
      let dialled: Array<DialledLeg> = []
      yield* carrier.register(RecordingCarrier.adapter, {
        interpret: (command) =>
          Effect.sync(() => {
            if (command.type === "dial") dialled.push({ callId: command.callId, legId: command.legId })
          }),
        presence: () => Effect.succeed("alive")
      })
      const at = () => Date.now()
      return RecordingCarrier.of({
        take: () => {
          const taken = dialled
          dialled = []
          return taken
        },
        answered: ({ callId, legId }) =>
          Effect.suspend(() => sink.tell(callId, { type: "answered", legId, at: at(), resume: null })),
        hungUp: ({ callId, legId }) =>
          Effect.suspend(() =>
            sink.tell(callId, { type: "ended", legId, at: at(), cause: "hangup", sipStatus: null, by: "far" })
          ),
        digit: ({ callId, legId }) =>
          Effect.suspend(() => {
            const now = at()
            return sink.tell(callId, { type: "media", legId, at: now, event: { type: "dtmf", digit: "5", at: now } })
          })
      })
    })
  )
}
