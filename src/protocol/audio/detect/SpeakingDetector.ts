/**
 * Detects which members of a room speak, frame by frame and cheaply, because every member is examined all the time. A
 * member speaks when its sound exceeds its own noise, and some of that is voiced: breath, clicks and a noise that
 * swells are loud, but not periodic. (`Voice` is the detector for one leg, at ten times the cost.)
 */

/** Sound that is louder than the noise by 11 dB opens the gate; it stays open down to 6 dB. */
const [opens, keeps] = [3.5, 2]
/** The least level that opens the gate, or keeps it open: RMS of a frame with high frequencies raised. */
const [leastOpening, leastKeeping] = [40, 24]
/** The noise is the least of five blocks of 500 ms; it falls at once, and rises by this factor a frame. */
const [blocks, blockFrames, rise] = [5, 25, 1.05]
const preEmphasis = 0.9

/** Decisions count over the last 20 frames. */
const seen = (1 << 20) - 1
const [openToStart, voicedToStart, voicedToGoOn] = [10, 4, 2]
/** How many frames without a sign of speech end it. */
const framesToEnd = 30

/** A voice is periodic: with a lag of 2.5 to 12.5 ms it correlates with itself at least this much. At 4 kHz. */
const likeness = 0.6
const [shortestLag, longestLag] = [10, 50]
const coarseLength = 80
const fineLength = 160

/** Cells for the numbers with fractions, because each change of one in a variable would be allocated. */
const [noiseCell, blockCell, beforeCell, firstBlock] = [0, 1, 2, 3]
/** The noise that is assumed at first, which is low. */
const firstNoise = 12

const bitsIn = (word: number): number => {
  let bits = word - ((word >>> 1) & 0x5555_5555)
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333)
  return (((bits + (bits >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24
}

export interface SpeakingDetector {
  /** Takes the next 20 ms, at any of our rates, which are only read. Returns whether they are part of speech. */
  readonly hear: (samples: Int16Array) => boolean
  /** Takes 20 ms without sound: no speech, and no information about the noise. Returns as `hear`. */
  readonly miss: () => boolean
  /** The RMS of the last frame with high frequencies raised. */
  readonly level: () => number
  /** Whether the last frame exceeded the noise. */
  readonly isOpen: () => boolean
  /** Ignores the present sound as a digit, up to the next frame that does not exceed the noise. */
  readonly ignore: () => void
  /** Forgets earlier speech; the noise stays the same. */
  readonly restart: () => void
}

/** `hear` allocates nothing. */
export const make = (): SpeakingDetector => {
  const cells = new Float64Array(firstBlock + blocks).fill(Number.POSITIVE_INFINITY)
  cells[noiseCell] = firstNoise
  cells[beforeCell] = 0
  /** The last frames at 4 kHz: the end of the one before, as long as the longest lag, then the present one. */
  const coarse = new Float32Array(longestLag + coarseLength)
  let framesOfBlock = 0
  let block = 0
  let level = 0
  let isOpen = false
  let isIgnored = false
  /** A bit for each frame, the last one lowest. */
  let open = 0
  let voiced = 0
  let framesWithout = 0
  let isSpeaking = false

  /** The sum of `count` samples from `from` on. It is an integer, because a returned fraction would be allocated. */
  const sumOf = (samples: Int16Array, from: number, count: number): number => {
    let sum = 0
    for (let i = from; i < from + count; i++) sum += samples[i] ?? 0
    return sum
  }

  /** Fills `coarse`, and returns the level. */
  const measure = (samples: Int16Array): number => {
    const step = samples.length / fineLength
    coarse.copyWithin(0, coarseLength)
    let before = cells[beforeCell] ?? 0
    let power = 0
    for (let i = 0; i < coarseLength; i++) {
      const one = step === 1 ? (samples[2 * i] ?? 0) : sumOf(samples, 2 * i * step, step) / step
      const other = step === 1 ? (samples[2 * i + 1] ?? 0) : sumOf(samples, (2 * i + 1) * step, step) / step
      const raised = one - preEmphasis * before
      const next = other - preEmphasis * one
      power += raised * raised + next * next
      coarse[longestLag + i] = (one + other) / 2
      before = other
    }
    cells[beforeCell] = before
    return Math.round(Math.sqrt(power / fineLength))
  }

  const follow = (): void => {
    if (level < (cells[blockCell] ?? 0)) cells[blockCell] = level
    let least = cells[blockCell] ?? 0
    for (let i = 0; i < blocks; i++) least = Math.min(least, cells[firstBlock + i] ?? 0)
    const noise = cells[noiseCell] ?? 0
    cells[noiseCell] = Math.max(1, least < noise ? least : Math.min(least, noise * rise))
    if (++framesOfBlock < blockFrames) return
    cells[firstBlock + block] = cells[blockCell] ?? 0
    cells[blockCell] = Number.POSITIVE_INFINITY
    block = (block + 1) % blocks
    framesOfBlock = 0
  }

  const isVoiced = (): boolean => {
    let power = 0
    for (let i = 0; i < coarseLength; i++) power += (coarse[longestLag + i] ?? 0) ** 2
    if (power === 0) return false
    /** The power of the stretch `lag` samples before. */
    let lagged = 0
    for (let i = 0; i < coarseLength; i++) lagged += (coarse[longestLag - shortestLag + 1 + i] ?? 0) ** 2
    for (let lag = shortestLag; lag <= longestLag; lag++) {
      const from = longestLag - lag
      lagged += (coarse[from] ?? 0) ** 2 - (coarse[from + coarseLength] ?? 0) ** 2
      let product = 0
      for (let i = 0; i < coarseLength; i++) product += (coarse[longestLag + i] ?? 0) * (coarse[from + i] ?? 0)
      if (product > 0 && product * product > likeness * likeness * power * lagged) return true
    }
    return false
  }

  const judge = (): boolean => {
    const voices = bitsIn(voiced)
    if (!isSpeaking) {
      framesWithout = 0
      isSpeaking = bitsIn(open) >= openToStart && voices >= voicedToStart
      return isSpeaking
    }
    framesWithout = isOpen && voices >= voicedToGoOn ? 0 : framesWithout + 1
    if (framesWithout >= framesToEnd) restart()
    return isSpeaking
  }

  const restart = (): void => {
    open = 0
    voiced = 0
    isSpeaking = false
  }

  return {
    hear: (samples) => {
      level = measure(samples)
      const noise = cells[noiseCell] ?? 0
      isOpen = isOpen ? level > keeps * noise && level > leastKeeping : level > opens * noise && level > leastOpening
      follow()
      if (!isOpen) isIgnored = false
      const counts = isOpen && !isIgnored
      open = ((open << 1) & seen) | (counts ? 1 : 0)
      voiced = ((voiced << 1) & seen) | (counts && isVoiced() ? 1 : 0)
      return judge()
    },
    miss: () => {
      level = 0
      isOpen = false
      isIgnored = false
      open = (open << 1) & seen
      voiced = (voiced << 1) & seen
      return judge()
    },
    level: () => level,
    isOpen: () => isOpen,
    ignore: () => {
      isIgnored = true
      open = 0
      voiced = 0
    },
    restart
  }
}
