import { Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { Hashing } from "../../src/tenancy/tenant/Password.ts"

/** How many passwords were hashed. */
export const hashed = { count: 0 }

/** Each hash of a password waits for this before it is made; a test that sets it sets it back. */
export const held: { until: (password: string) => Effect.Effect<unknown> } = { until: () => Effect.void }

/** Cheap, so that suites may sign up and log in often: on a loaded machine the real one takes seconds. */
export const layer = Layer.succeed(Hashing, {
  places: 2,
  scrypt: ({ length, password, salt }) =>
    Effect.map(
      Effect.suspend(() => held.until(password)),
      () => {
        hashed.count++
        const digest = hash("sha512", `${Buffer.from(salt).toString("hex")} ${password}`, "buffer")
        return new Uint8Array(digest.subarray(0, length))
      }
    )
})
