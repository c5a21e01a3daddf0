/** The length of a window in frames: 4 s. */
const windowFrames = 200
/** A frame below this mean amplitude is quiet: about -46 dBFS. */
const quiet = 160

const meanAmplitude = (frame: Int16Array) => {
  let sum = 0
  for (const sample of frame) sum += Math.abs(sample)
  return sum / frame.length
}

/** The least sound that was left over after each frame of a window: that much delay is not needed. */
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
     * Takes the clock units `left` over after a frame. True: they exceeded a frame for a whole window, and this is the
     * moment to remove one: a quiet frame, or after another half window any frame.
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
