import { Effect } from "effect"
import { scrypt } from "node:crypto"

/**
 * scrypt (RFC 7914): 32 MiB and about 0.1 s for each try. Stored hashes stay readable when the cost is raised, because
 * each names its own.
 */
const cost = { N: 32_768, r: 8, p: 3 } as const
const memory = 64 * 1024 * 1024

/**
 * `scrypt$N$r$p$<salt>$<32-byte hash>`, both in base64url. `salt`: 16 random bytes. Nothing interrupts it, because
 * nothing can stop the core that it has taken.
 */
export const hash = (password: string, salt: Uint8Array): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    scrypt(password.normalize("NFKC"), salt, 32, { ...cost, maxmem: memory }, (error, derived) => {
      if (error !== null) return resume(Effect.die(error))
      const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")
      resume(Effect.succeed(`scrypt$${cost.N}$${cost.r}$${cost.p}$${text(salt)}$${text(derived)}`))
    })
  }).pipe(Effect.uninterruptible)
