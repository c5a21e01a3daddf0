import { chmod, readFile, rename, writeFile } from "node:fs/promises"
import { Effect, Redacted, Schema } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { Entropy } from "../../../runtime/process/Entropy.ts"

/**
 * The service does not start when it can neither read nor write the operator's token, because its door could not be
 * opened.
 */
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
 * The bearer token of the operator's door: 256 random bits in hex, in a file that only its owner can read (0600).
 *
 * A valid token in the file is kept, so that clients keep their access after a restart; any other content is replaced.
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
      // The file is renamed into place, so that no reader sees half a token or a file without its mode.
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

/** Compares the `Authorization` header with the token in constant time, which reveals nothing about either. */
export const accepts =
  (token: Redacted.Redacted) =>
  (authorization: string | undefined): boolean =>
    timingSafeEqual(digest(authorization ?? ""), digest(`Bearer ${Redacted.value(token)}`))
