import { Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { Spoken } from "../../../ports/speech/Engine.ts"
import { Synthesizer } from "../../../ports/speech/Synthesizer.ts"

/** The most sound of one text, in seconds. */
const mostSecs = 120

/** The operator has a share of the engine's places of its own. */
const operator = Id.deriveUuid("operator", "tenant")

/** Speaks a text with the service's default voice. Fails with `unprocessable` when there is none. */
export const make = Effect.fn("CallerSpeech.make")(function* (text: string) {
  const synthesizer = yield* Synthesizer
  const speech = { text, textType: "text", voice: "female", language: null } as const
  const refused = synthesizer.refuse(speech)
  if (refused !== null) return yield* ApiError.of("unprocessable", refused.detail)
  const pieces: Array<Spoken> = []
  let secs = 0
  const take = (spoken: Spoken): void => {
    secs += spoken.samples.length / spoken.rate
    if (secs <= mostSecs) pieces.push(spoken)
  }
  const { parts } = yield* Effect.mapError(synthesizer.open(operator, speech), unspoken)
  yield* Effect.forEach(parts, (part) => Effect.mapError(part(take), unspoken), { discard: true })
  const rate = pieces[0]?.rate ?? 16_000
  const samples = new Int16Array(pieces.reduce((length, piece) => length + piece.samples.length, 0))
  let at = 0
  for (const piece of pieces) {
    samples.set(piece.samples, at)
    at += piece.samples.length
  }
  return { rate, samples }
})

const unspoken = ({ reason }: { readonly reason: string }) =>
  ApiError.of("unprocessable", `the text was not spoken: ${reason}`)
