import { Data, Effect, Redacted } from "effect"
import { linkSync, readFileSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Entropy } from "../actor/Entropy.ts"
import { keyBytes } from "./Config.ts"

/** The installation's key exists but cannot be used: going on would make a second one and lose every secret. */
class VaultKeyUnusable extends Data.TaggedError("VaultKeyUnusable")<{
  readonly file: string
  readonly detail: string
}> {
  override get message() {
    return `SECRET_KEY: ${this.file} ${this.detail}`
  }
}

/**
 * The key that seals secrets at rest. It comes from the environment, or from a file of the data directory that is made
 * once.
 */
export const load = Effect.fnUntraced(function* (secretKey: Redacted.Redacted | null, dataDir: string) {
  const given = secretKey === null ? null : keyBytes(Redacted.value(secretKey))
  if (given !== null) return Redacted.make(given)
  const entropy = yield* Entropy
  const file = join(dataDir, "vault.key")
  const text = yield* Effect.try({
    try: () => {
      try {
        return readFileSync(file, "utf8").trim()
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error
        const fresh = entropy.hex(32)
        // The file is complete or absent: a crash must not leave an empty key that every later start refuses.
        const draft = `${file}.${entropy.hex(4)}`
        writeFileSync(draft, `${fresh}\n`, { mode: 0o600, flag: "wx", flush: true })
        linkSync(draft, file)
        unlinkSync(draft)
        return fresh
      }
    },
    catch: (error) => new VaultKeyUnusable({ file, detail: error instanceof Error ? error.message : String(error) })
  })
  const key = keyBytes(text)
  return key === null
    ? yield* new VaultKeyUnusable({ file, detail: "does not hold 32 bytes as hex" })
    : Redacted.make(key)
})
