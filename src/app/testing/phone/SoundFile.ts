import { Result } from "effect"
import * as AudioDecoder from "../../../media/sound/AudioDecoder.ts"
import * as Resample from "../../../protocol/audio/Resample.ts"

const rate = 16_000

/** A sound file as samples of 16 kHz, one channel. Fails when it is none that the service plays. */
export const decode = async (file: Uint8Array): Promise<Int16Array> => {
  const started = await AudioDecoder.start({ bytes: file, contentType: null }, rate)
  if (Result.isFailure(started)) throw new TypeError(`the sound file cannot be played: ${started.failure}`)
  const { free, pieces } = started.success
  const parts: Array<Int16Array> = []
  try {
    for (;;) {
      const piece = pieces.next(() => false)
      if (Result.isFailure(piece)) throw new TypeError(`the sound file cannot be played: ${piece.failure}`)
      if (piece.success === null) continue
      parts.push(piece.success.samples)
      if (piece.success.isLast) break
    }
  } finally {
    free()
  }
  return Resample.concat(parts)
}
