/**
 * Sound for comparing codecs bit by bit, made of whole numbers alone so that every machine makes the same: noise, a
 * triangle that sweeps up to 8 kHz, a square of full scale, silence, and each of these rising and falling.
 */
export const sound = (samples: number): Int16Array => {
  let state = 1
  let phase = 0
  const noise = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0
    return state >> 16
  }
  return Int16Array.from({ length: samples }, (_, i) => {
    const part = Math.floor(i / 4000) % 6
    phase = (phase + 3 + (i % 24_000) * 2) & 0xffff
    const triangle = phase < 0x8000 ? phase * 2 - 0x8000 : 0x17fff - phase * 2
    const swell = i % 4000 < 2000 ? i % 2000 : 1999 - (i % 2000)
    switch (part) {
      case 0:
        return triangle >> 1
      case 1:
        return noise() >> 2
      case 2:
        return Math.trunc((triangle * swell) / 2000)
      case 3:
        return i % 50 < 25 ? 32_767 : -32_768
      case 4:
        return Math.trunc((noise() * swell) / 2000)
      default:
        return 0
    }
  })
}
