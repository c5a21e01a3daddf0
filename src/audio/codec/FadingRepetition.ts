import type { Loss } from "./Codec.ts"

/** From full level to silence over so many frames. */
const fadeFrames = 3

/** Conceals a loss for codecs that have no better way: repeats what was heard last, and fades it out within 60 ms. */
export const conceal = (out: Int16Array, { framesBefore, from, last }: Loss): number => {
  const length = out.length
  for (let i = from; i < length; i++) {
    const gain = Math.max(0, 1 - (framesBefore + i / length) / fadeFrames)
    out[i] = (last[i] ?? 0) * gain
  }
  return Math.max(0, 1 - (framesBefore + 1) / fadeFrames)
}
