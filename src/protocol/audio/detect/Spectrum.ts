/** Points of the transform: 64 ms at 8 kHz. */
export const size = 512
export const binHz = 8000 / size
/** Bins from 0 Hz to 4 kHz. */
export const bins = size / 2 + 1

const half = size / 2
const hann = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size))
const cosines = Float64Array.from({ length: half }, (_, i) => Math.cos((2 * Math.PI * i) / size))
const sines = Float64Array.from({ length: half }, (_, i) => Math.sin((2 * Math.PI * i) / size))
const reversed = Uint16Array.from({ length: half }, (_, i) => {
  let [from, to] = [i, 0]
  for (let bit = 1; bit < half; bit <<= 1, from >>= 1) to = (to << 1) | (from & 1)
  return to
})

/** Computes the power of 512 samples in each bin, with a Hann window; the main lobe of a sine of amplitude 1 has 1. */
export const make = () => {
  const re = new Float64Array(half)
  const im = new Float64Array(half)
  const power = new Float64Array(bins)
  /** The scale of the window and of both halves of the spectrum: a sine has half of its squared amplitude in each. */
  const scale = 4 / (size * hann.reduce((sum, each) => sum + each * each, 0))

  /** Runs a complex transform of 256 points, in place, on input in bit-reversed order. Span 1 needs no factors. */
  const transform = (): void => {
    for (let i = 0; i < half; i += 2) {
      const a = re[i + 1] ?? 0
      const b = im[i + 1] ?? 0
      re[i + 1] = (re[i] ?? 0) - a
      im[i + 1] = (im[i] ?? 0) - b
      re[i] = (re[i] ?? 0) + a
      im[i] = (im[i] ?? 0) + b
    }
    for (let span = 2; span < half; span <<= 1) {
      const stride = half / span
      for (let k = 0; k < span; k++) {
        const c = cosines[k * stride] ?? 0
        const s = sines[k * stride] ?? 0
        for (let i = k; i < half; i += span << 1) {
          const j = i + span
          const a = re[j] ?? 0
          const b = im[j] ?? 0
          const x = a * c + b * s
          const y = b * c - a * s
          const u = re[i] ?? 0
          const v = im[i] ?? 0
          re[j] = u - x
          im[j] = v - y
          re[i] = u + x
          im[i] = v + y
        }
      }
    }
  }

  return {
    /** Takes 512 `samples`. The result is lent until the next call. */
    of: (samples: Float64Array): Float64Array => {
      // Even samples are the real part and odd ones the imaginary part, which halves the work for real input.
      for (let i = 0; i < half; i++) {
        const to = reversed[i] ?? 0
        re[to] = (samples[2 * i] ?? 0) * (hann[2 * i] ?? 0)
        im[to] = (samples[2 * i + 1] ?? 0) * (hann[2 * i + 1] ?? 0)
      }
      transform()
      for (let k = 0; k <= half; k++) {
        const i = k & (half - 1)
        const j = (half - k) & (half - 1)
        const evenRe = ((re[i] ?? 0) + (re[j] ?? 0)) / 2
        const evenIm = ((im[i] ?? 0) - (im[j] ?? 0)) / 2
        const oddRe = ((im[i] ?? 0) + (im[j] ?? 0)) / 2
        const oddIm = ((re[j] ?? 0) - (re[i] ?? 0)) / 2
        const cos = k === half ? -1 : (cosines[k] ?? 0)
        const sin = k === half ? 0 : (sines[k] ?? 0)
        const x = evenRe + oddRe * cos + oddIm * sin
        const y = evenIm + oddIm * cos - oddRe * sin
        power[k] = (x * x + y * y) * scale
      }
      return power
    }
  }
}
