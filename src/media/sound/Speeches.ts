import { Effect, type Fiber, type Scope } from "effect"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { TenantId } from "../../domain/Id.ts"
import type { SpeechFailed } from "../../ports/speech/Engine.ts"
import type { Synthesizer } from "../../ports/speech/Synthesizer.ts"
import type { Speech } from "../../ports/media/PlaybackMessages.ts"
import type * as SoundCache from "./SoundCache.ts"
import * as SpeechTrack from "./SpeechTrack.ts"

/** How long speech is kept after it was last requested. It does not change while its engine does not. */
const keptMs = 600_000
const entryBytes = 4 * 1024

export interface SpeechSound extends SoundCache.Kept {
  readonly speech: SpeechTrack.SpeechTrack
  readonly making: Fiber.Fiber<void> | null
  readers: number
}

const isSpeech = (sound: SoundCache.Kept): sound is SpeechSound => "speech" in sound

/** The shelf has no room for it, for this tenant or for all. */
export class NoShelf {
  readonly _tag = "NoShelf"
}

/**
 * The spoken texts on the shelf, both while they are made and after. Requests of a tenant for the same text, voice and
 * language share one. Tenants share none, because another one could learn from the response time that a text was spoken
 * before.
 *
 * When all askers leave before the speech is made, the engine stops, and none of it is kept.
 */
export const make = <Other extends SoundCache.Kept>({
  fork,
  now,
  shelf,
  synthesizer
}: {
  readonly synthesizer: Synthesizer["Service"]
  readonly shelf: SoundCache.SoundCache<SpeechSound | Other>
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  /** The monotonic time in milliseconds. */
  readonly now: () => number
}) => {
  const start = (
    tenant: TenantId,
    speech: Speech,
    rate: SampleRate,
    key: string
  ): Effect.Effect<SpeechSound, SpeechFailed | NoShelf> =>
    Effect.flatMap(synthesizer.open(tenant, speech), (script) =>
      Effect.suspend(() => {
        const track = SpeechTrack.make(script, rate)
        const sound = {
          holder: tenant,
          speech: track,
          making: null as Fiber.Fiber<void> | null,
          readers: 1,
          expiresAt: now() + keptMs,
          bytes: () => entryBytes + track.bytes(),
          isIdle: () => sound.readers === 0
        }
        if (!shelf.mayAdd(tenant) || !shelf.add(key, sound, now())) return Effect.fail(new NoShelf())
        sound.making = fork(
          Effect.ensuring(
            track.run,
            Effect.sync(() => {
              if (!track.isWhole()) shelf.drop(key, sound)
              shelf.shrink(now())
            })
          )
        )
        return Effect.succeed<SpeechSound>(sound)
      })
    )

  const enter = (tenant: TenantId, speech: Speech, rate: SampleRate, key: string) =>
    Effect.suspend(() => {
      const known = shelf.find(key, now())
      if (known === null || !isSpeech(known)) return start(tenant, speech, rate, key)
      known.readers++
      return Effect.succeed(known)
    })

  return {
    /** Opens a speech, which is made and kept until the scope closes. */
    open: (
      tenant: TenantId,
      speech: Speech,
      rate: SampleRate
    ): Effect.Effect<SpeechTrack.SpeechTrack, SpeechFailed | NoShelf, Scope.Scope> => {
      const { language, text, textType, voice } = speech
      const key = `speech:${JSON.stringify([tenant, rate, voice, language, textType, text])}`
      return Effect.map(
        Effect.acquireRelease(enter(tenant, speech, rate, key), (sound) =>
          Effect.sync(() => {
            sound.readers--
            if (sound.readers > 0 || sound.speech.isWhole()) return
            shelf.drop(key, sound)
            sound.making?.interruptUnsafe()
          })
        ),
        (sound) => sound.speech
      )
    }
  }
}
