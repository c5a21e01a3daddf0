import { Layer } from "effect"
import { randomBytes } from "node:crypto"
import { Entropy } from "../../runtime/process/Entropy.ts"

/**
 * The system's random source. Small draws (a seed for every input of every call) come from a pool that is filled 4 KiB
 * at a time: one system call for hundreds of them.
 */
export const layer = Layer.sync(Entropy, () => {
  let pool = Buffer.alloc(0)
  let used = 0
  const bytes = (length: number): Buffer => {
    if (length > 256) return randomBytes(length)
    if (used + length > pool.length) {
      pool = randomBytes(4096)
      used = 0
    }
    const drawn = Buffer.from(pool.subarray(used, used + length))
    // Bytes that were handed out are erased, so that they cannot be found in memory again.
    pool.fill(0, used, used + length)
    used += length
    return drawn
  }
  return Entropy.of({ bytes, hex: (length) => bytes(length).toString("hex") })
})
