import { Context, Deferred, Effect, Layer } from "effect"
import type { LegId } from "../domain/Id.ts"

/** How the stream that was received on a leg sounded, at the leg's end. */
export interface LegSound {
  readonly codec: string
  readonly packetsReceived: number
  /** Share of the packets that were lost or came too late; null: none came. */
  readonly loss: number | null
  /** RFC 3550 section 6.4.1. */
  readonly jitterMs: number
  /** Mean opinion score by the E-model, ITU-T G.107, 1 to 4.5; null: no packet came. */
  readonly mos: number | null
}

/** Legs whose figures nobody has taken yet; beyond, the oldest are forgotten. */
const maxKept = 10_000
/** The figures come from the media plane at the same time as the leg's end; without them for so long there are none. */
const patienceMs = 1_000

/** How legs sounded, from the carrier that had their media to the log of their calls. */
export class LegSounds extends Context.Service<
  LegSounds,
  {
    /** A leg that had media ends: its figures are on their way. */
    readonly expect: (legId: LegId) => void
    /** Null: nothing was measured. */
    readonly tell: (legId: LegId, sound: LegSound | null) => void
    /** Once for a leg. Waits a second at most for what is on its way; null: there is nothing. */
    readonly take: (legId: LegId) => Effect.Effect<LegSound | null>
  }
>()("trunkline/carrier/LegSounds") {
  static readonly layer = Layer.sync(LegSounds, () => {
    const kept = new Map<LegId, Deferred.Deferred<LegSound | null>>()

    const entry = (legId: LegId) => {
      const known = kept.get(legId)
      if (known !== undefined) return known
      const made = Deferred.makeUnsafe<LegSound | null>()
      kept.set(legId, made)
      const [oldest] = kept.keys()
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
      return made
    }

    return LegSounds.of({
      expect: (legId) => void entry(legId),
      tell: (legId, sound) => void Deferred.doneUnsafe(entry(legId), Effect.succeed(sound)),
      take: (legId) =>
        Effect.suspend(() => {
          const coming = kept.get(legId)
          if (coming === undefined) return Effect.succeed(null)
          return Deferred.await(coming).pipe(
            Effect.timeoutOrElse({ duration: patienceMs, orElse: () => Effect.succeed(null) }),
            Effect.ensuring(Effect.sync(() => kept.delete(legId)))
          )
        })
    })
  })
}
