/** Seeded noise for tests: the same seed gives the same bytes (mulberry32). */
export const random = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/**
 * `count` byte strings: half of them noise of up to 200 bytes, half of them one of `samples` with a few bytes changed,
 * cut or grown.
 */
export function* hostile(count: number, seed: number, samples: ReadonlyArray<Uint8Array>): Generator<Uint8Array> {
  const next = random(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  for (let i = 0; i < count; i++) {
    const sample = samples[below(samples.length)]
    if (i % 2 === 0 || sample === undefined) {
      yield Uint8Array.from({ length: below(200) }, () => below(256))
      continue
    }
    const length = below(3) === 0 ? below(sample.length * 2) : sample.length
    const bytes = new Uint8Array(length)
    bytes.set(sample.subarray(0, length))
    if (length > 0) for (let changes = below(6); changes > 0; changes--) bytes[below(length)] = below(256)
    yield bytes
  }
}
