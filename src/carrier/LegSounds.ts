import { Context, Deferred, Effect, Layer } from "effect"
import type { LegId } from "../domain/Id.ts"

/** The sound quality of the stream received on a leg, at the leg's end. */
export interface LegSound {
  readonly codec: string
  readonly packetsReceived: number
  /** The share of the packets that were lost or too late; null when none arrived. */
  readonly loss: number | null
  /** RFC 3550 section 6.4.1: the last value, the mean and the maximum. */
  readonly jitterMs: number
  readonly jitterMeanMs: number
  readonly jitterMaxMs: number
  /** The mean opinion score by the E-model, ITU-T G.107, 1 to 4.5; null when no packet arrived. */
  readonly mos: number | null
}

/** The number of legs whose figures are kept until they are taken; beyond it, the oldest are forgotten. */
const maxKept = 10_000
/**
 * How long to wait for the figures. They come from the media plane at the same time as the leg's end, or not at all.
 */
const patienceMs = 1_000

/** Passes the sound quality of legs from the carrier that had their media to the log of their calls. */
export class LegSounds extends Context.Service<
  LegSounds,
  {
    /** A leg that had media has ended, and its figures will follow. */
    readonly expect: (legId: LegId) => void
    /** Null when nothing was measured. */
    readonly tell: (legId: LegId, sound: LegSound | null) => void
    /** Takes the figures of a leg, once. Waits a second at most for expected figures; null when there are none. */
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
