import { Effect, type Fiber, type Scope } from "effect"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { TenantId } from "../../domain/Id.ts"
import type { SpeechFailed } from "../../ports/speech/Engine.ts"
import type { Synthesizer } from "../../ports/speech/Synthesizer.ts"
import type { Speech } from "../../ports/media/Playback.ts"
import type * as Shelf from "./Shelf.ts"
import * as SpeechTrack from "./SpeechTrack.ts"

/** How long speech is kept after it was begun for somebody the last time. It does not change, but for its engine. */
const keptMs = 600_000
const entryBytes = 4 * 1024

export interface SpeechSound extends Shelf.Kept {
  readonly speech: SpeechTrack.SpeechTrack
  readonly making: Fiber.Fiber<void> | null
  readers: number
}

const isSpeech = (sound: Shelf.Kept): sound is SpeechSound => "speech" in sound

/** There is no room for it, for this tenant or for all. */
export class NoShelf {
  readonly _tag = "NoShelf"
}

/**
 * What is spoken, kept on the shelf while and after it is made: who asks for the same text, voice and language is given
 * what is there. It is a tenant's own: no other learns from the time that it takes what was said.
 *
 * When all who asked have gone before it is made, the engine stops, and nothing of it is kept.
 */
export const make = <Other extends Shelf.Kept>({
  fork,
  now,
  shelf,
  synthesizer
}: {
  readonly synthesizer: Synthesizer["Service"]
  readonly shelf: Shelf.Shelf<SpeechSound | Other>
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  /** Monotonic milliseconds. */
  readonly now: () => number
}) => {
  const begin = (
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
      if (known === null || !isSpeech(known)) return begin(tenant, speech, rate, key)
      known.readers++
      return Effect.succeed(known)
    })

  return {
    /** Until the scope closes, it is made, and kept. */
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
