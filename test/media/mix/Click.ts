/**
 * The largest fourth difference in `samples`. It shows a step or a kink, also beside a loud tone, whose own difference
 * is small.
 */
export const largest = (samples: Int16Array): number => {
  let found = 0
  for (let i = 4; i < samples.length; i++) found = Math.max(found, at(samples, i))
  return found
}

/** The fourth difference that ends at a sample; of a step it is six times its height. */
export const at = (samples: Int16Array, i: number): number => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = samples.subarray(i - 4, i + 1)
  return Math.abs(a - 4 * b + 6 * c - 4 * d + e)
}
