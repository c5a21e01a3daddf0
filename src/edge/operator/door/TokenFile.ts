import { chmod, readFile, rename, writeFile } from "node:fs/promises"
import { Effect, Redacted, Schema } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { Entropy } from "../../../runtime/process/Entropy.ts"

/** The operator's token can neither be read nor written; the service does not start with a door that nobody can open. */
class TokenFileUnusable extends Schema.TaggedError<TokenFileUnusable>()("TokenFileUnusable", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `the operator's token file ${this.path} cannot be used: ${this.detail}`
  }
}

const form = /^[0-9a-f]{64}$/

/**
 * The bearer token of the operator's door: 256 random bits in hex, in a file that only its owner reads (0600).
 *
 * A valid token that is there is kept, so that a restart locks nobody out; anything else in the file is replaced.
 */
export const acquire = Effect.fn("TokenFile.acquire")(function* (path: string) {
  const entropy = yield* Entropy
  const acquired = Effect.tryPromise({
    try: async () => {
      const kept = await readFile(path, "utf8").then(
        (text) => text.trim(),
        () => ""
      )
      if (form.test(kept)) {
        await chmod(path, 0o600)
        return kept
      }
      const token = entropy.hex(32)
      // The file is renamed into place: nobody ever reads half a token, or one whose mode is not set yet.
      const fresh = `${path}.${entropy.hex(4)}`
      await writeFile(fresh, `${token}\n`, { flag: "wx", mode: 0o600 })
      await rename(fresh, path)
      return token
    },
    catch: (cause) => new TokenFileUnusable({ path, detail: cause instanceof Error ? cause.message : String(cause) })
  })
  return Redacted.make(yield* acquired)
})

const digest = (text: string) => hash("sha256", text, "buffer")

/** Compares the `Authorization` header with the token; the time it takes says nothing about either. */
export const accepts =
  (token: Redacted.Redacted) =>
  (authorization: string | undefined): boolean =>
    timingSafeEqual(digest(authorization ?? ""), digest(`Bearer ${Redacted.value(token)}`))
