/**
 * The largest fourth difference in `samples`: a step or a kink stands out of it, also beside a loud tone, whose own is
 * small.
 */
export const largest = (samples: Int16Array): number => {
  let found = 0
  for (let i = 4; i < samples.length; i++) {
    const [a, b, c, d, e] = [4, 3, 2, 1, 0].map((back) => samples[i - back] ?? 0)
    found = Math.max(found, Math.abs((a ?? 0) - 4 * (b ?? 0) + 6 * (c ?? 0) - 4 * (d ?? 0) + (e ?? 0)))
  }
  return found
}
