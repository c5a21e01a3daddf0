import type { Chunk } from "../../media/capture/Capture.ts"
import { warning } from "../../media/mix/Beeper.ts"
import * as SpeakingDetector from "../../protocol/audio/detect/SpeakingDetector.ts"

/** A frame is the warning tone of a recording when one sine has at least this share of its energy. */
const toneShare = 0.8

/**
 * Whether the frame is the warning tone, or its echo. The detector of speech takes it for a voice, because it is
 * periodic, and a tone that repeats would keep a recording from its end after silence.
 */
const isWarning = (samples: Int16Array, rate: number): boolean => {
  const step = (2 * Math.PI * warning.frequency) / rate
  let [energy, inPhase, quadrature] = [0, 0, 0]
  for (const [i, sample] of samples.entries()) {
    energy += sample * sample
    inPhase += sample * Math.cos(i * step)
    quadrature += sample * Math.sin(i * step)
  }
  return energy > 0 && 2 * (inPhase * inPhase + quadrature * quadrature) >= toneShare * samples.length * energy
}

/** Measures for how long no track has had speech, chunk by chunk, in milliseconds. */
export const make = () => {
  let detectors: ReadonlyArray<SpeakingDetector.SpeakingDetector> | null = null
  let quietMs = 0
  return ({ rate, tracks }: Chunk): number => {
    const frameLength = rate / 50
    detectors ??= tracks.map(() => SpeakingDetector.make())
    for (let from = 0; from + frameLength <= (tracks[0]?.length ?? 0); from += frameLength) {
      let isSpoken = false
      for (const [index, detector] of detectors.entries()) {
        const frame = tracks[index]?.subarray(from, from + frameLength)
        if (frame === undefined) continue
        if (isWarning(frame, rate) ? detector.miss() : detector.hear(frame)) isSpoken = true
      }
      quietMs = isSpoken ? 0 : quietMs + 20
    }
    return quietMs
  }
}
