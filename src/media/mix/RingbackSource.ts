import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { RingbackTone } from "../../protocol/audio/RingbackTone.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Tone from "../../protocol/audio/Tone.ts"
import * as Frame from "../Frame.ts"
import type { Source } from "./Source.ts"

/**
 * A ring-back tone that begins now and never ends. Each burst is faded in and out in a raised cosine of 5 ms. Its time
 * passes also while it is not heard.
 */
export const make = ({ cadenceMs, components }: RingbackTone): Source => {
  const parts = cadenceMs.map((ms) => Math.round(ms / Frame.frameMs))
  let out = Frame.make(8000)
  let oscillator: { readonly rate: SampleRate; readonly tone: Tone.Oscillator } | null = null
  /** The part of the cadence, and the frame in it. */
  let part = 0
  let at = 0

  const advance = (): void => {
    at++
    if (at < (parts[part] ?? 0)) return
    at = 0
    part = (part + 1) % parts.length
  }

  const toneAt = (rate: SampleRate): Tone.Oscillator => {
    if (oscillator?.rate !== rate) oscillator = { rate, tone: Tone.oscillator(components, rate) }
    return oscillator.tone
  }

  return {
    next: (rate) => {
      const [isSound, isFirst, isLast] = [part % 2 === 0, at === 0, at + 1 === parts[part]]
      advance()
      if (!isSound) return null
      out = Frame.at(rate, out)
      const { samples } = out
      toneAt(rate).render(samples)
      if (isFirst) Ramp.fadeIn(samples, rate, 0, 0, samples.length)
      if (isLast) Ramp.fadeOut(samples, rate, samples.length, 0, samples.length)
      return out
    },
    pass: advance,
    ready: () => true,
    close: () => undefined
  }
}
