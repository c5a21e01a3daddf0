import { Context, Effect } from "effect"
import { scrypt, timingSafeEqual } from "node:crypto"

/** Parameters of scrypt, RFC 7914. */
export interface Work {
  /** The password in Unicode normalization form NFKC. */
  readonly password: string
  readonly salt: Uint8Array
  /** The length of the hash in bytes. */
  readonly length: number
  readonly cost: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number }
}

/** Hashes with the threads that Node has for such work, or with others. A hash that has begun cannot be stopped. */
export class Hashing extends Context.Reference<{
  /** The number of hashes at once. */
  readonly places: number
  readonly scrypt: (work: Work) => Effect.Effect<Uint8Array>
}>("trunkline/tenant/Hashing", {
  defaultValue: () => ({
    places: 2,
    scrypt: ({ cost, length, password, salt }) =>
      Effect.callback<Uint8Array>((resume) => {
        scrypt(password, salt, length, cost, (error, derived) =>
          resume(error === null ? Effect.succeed(derived) : Effect.die(error))
        )
      })
  })
}) {}

/** 32 MiB and about 0.1 s for each guess. Stored hashes stay readable after a raise, because each names its cost. */
const cost = { N: 32_768, r: 8, p: 3 } as const
const maxmem = 64 * 1024 * 1024

/**
 * Returns `scrypt$N$r$p$<salt>$<32-byte hash>`, both in base64url. `salt` is 16 random bytes. It is uninterruptible,
 * because nothing can stop a hash that has begun on its core.
 */
export const hash = (password: string, salt: Uint8Array): Effect.Effect<string> =>
  Effect.flatMap(Hashing, ({ scrypt }) =>
    scrypt({ password: password.normalize("NFKC"), salt, length: 32, cost: { ...cost, maxmem } })
  ).pipe(
    Effect.map((derived) => {
      const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")
      return `scrypt$${cost.N}$${cost.r}$${cost.p}$${text(salt)}$${text(derived)}`
    }),
    Effect.uninterruptible
  )

/** Whether this hash was made of the password; false for a hash of another kind. */
export const matches = (password: string, stored: string): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const [kind, N, r, p, salt, expected] = stored.split("$")
    if (kind !== "scrypt" || salt === undefined || expected === undefined) return false
    const { scrypt } = yield* Hashing
    const wanted = Buffer.from(expected, "base64url")
    const derived = yield* scrypt({
      password: password.normalize("NFKC"),
      salt: Buffer.from(salt, "base64url"),
      length: wanted.length,
      cost: { N: Number(N), r: Number(r), p: Number(p), maxmem }
    })
    return wanted.length > 0 && timingSafeEqual(wanted, derived)
  }).pipe(Effect.uninterruptible)

/** A hash that no password has, and that takes as long to check as any other. */
export const nobodys = `scrypt$${cost.N}$${cost.r}$${cost.p}$${"A".repeat(22)}$${"A".repeat(43)}`
