/** A window, in frames: 4 s. */
const windowFrames = 200
/** Below this mean amplitude a frame is a quiet moment: about -46 dBFS. */
const quiet = 160

const meanAmplitude = (frame: Int16Array) => {
  let sum = 0
  for (const sample of frame) sum += Math.abs(sample)
  return sum / frame.length
}

/** How much sound was left over at least, behind each frame of a window: that much delay is not needed. */
export const make = (frameUnits: number) => {
  let least = Number.POSITIVE_INFINITY
  let framesLeft = windowFrames

  /** Begins a window. */
  const forget = (): void => {
    least = Number.POSITIVE_INFINITY
    framesLeft = windowFrames
  }

  return {
    forget,
    /**
     * Behind a frame `left` clock units were left over. True: for a whole window it was more than a frame, and this is the
     * moment to take one out, a quiet one or the last of half a window more.
     */
    isTooMuch: (left: number, frame: Int16Array): boolean => {
      least = Math.min(least, left)
      framesLeft--
      if (framesLeft > 0) return false
      if (least < frameUnits * 1.5) {
        forget()
        return false
      }
      return framesLeft <= -windowFrames / 2 || meanAmplitude(frame) <= quiet
    }
  }
}
