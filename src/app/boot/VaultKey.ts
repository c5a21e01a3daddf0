import { Effect, Redacted } from "effect"
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Entropy } from "../../runtime/process/Entropy.ts"
import { type Keyring, type Vault, VaultKeyUnusable } from "../../runtime/store/vault/Vault.ts"
import { type Config, keyBytes } from "./config/Config.ts"

export interface Keys {
  readonly ring: Keyring
  readonly keep: Vault["Service"]["keep"]
}

export const fileOf = (dataDir: string) => join(dataDir, "vault.key")

/**
 * Loads the keys that seal secrets at rest. They come from the environment, or from a file of the data directory that
 * is made once: its first line is the current key, and during a rotation the earlier ones follow.
 */
export const load = Effect.fnUntraced(function* (
  config: Pick<Config, "secretKey" | "previousKeys">,
  dataDir: string
): Effect.fn.Return<Keys, VaultKeyUnusable, Entropy> {
  const given = [config.secretKey, ...config.previousKeys].flatMap((key) => (key === null ? [] : [Redacted.value(key)]))
  const entropy = yield* Entropy
  const file = fileOf(dataDir)
  const attempt = <A>(run: () => A) =>
    Effect.try({
      try: run,
      catch: (error) => new VaultKeyUnusable({ file, detail: error instanceof Error ? error.message : String(error) })
    })
  const isOurs = given.length === 0
  const texts = isOurs ? yield* attempt(() => (read(file) ?? create(file, entropy)).split("\n")) : given
  const [current, ...earlier] = texts.map((text) => keyBytes(text.trim()))
  const known = earlier.filter((key) => key !== null)
  if (current === undefined || current === null || known.length < earlier.length)
    return yield* new VaultKeyUnusable({ file, detail: "does not hold keys of 32 bytes as hex" })
  return {
    ring: { current: Redacted.make(current), earlier: known.map((key) => Redacted.make(key)) },
    keep: isOurs ? (ring) => attempt(() => replace(dataDir, ring, entropy)) : null
  }
})

const read = (file: string): string | null => {
  try {
    return readFileSync(file, "utf8").trim()
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw error
  }
}

/** Writes a temporary file first, because a crash must not leave an empty key that every later start refuses. */
const draft = (file: string, text: string, entropy: Entropy["Service"]): string => {
  const path = `${file}.${entropy.hex(4)}`
  writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx", flush: true })
  return path
}

const create = (file: string, entropy: Entropy["Service"]): string => {
  const fresh = entropy.hex(32)
  const path = draft(file, fresh, entropy)
  linkSync(path, file)
  unlinkSync(path)
  return fresh
}

/** The file is durable when this returns, because rows are sealed under the first key from then on. */
const replace = (dataDir: string, { current, earlier }: Keyring, entropy: Entropy["Service"]): void => {
  const text = [current, ...earlier].map((key) => Buffer.from(Redacted.value(key)).toString("hex")).join("\n")
  renameSync(draft(fileOf(dataDir), text, entropy), fileOf(dataDir))
  const directory = openSync(dataDir, "r")
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Puts keys into a data directory that has none or the same ones; false: it has others. */
export const install = Effect.fnUntraced(function* (dataDir: string, ring: Keyring) {
  const entropy = yield* Entropy
  const file = fileOf(dataDir)
  return yield* Effect.try({
    try: () => {
      const there = read(file)
      const wanted = Buffer.from(Redacted.value(ring.current)).toString("hex")
      if (there !== null) return there.split("\n").map((line) => line.trim())[0] === wanted
      replace(dataDir, ring, entropy)
      return true
    },
    catch: (error) => new VaultKeyUnusable({ file, detail: error instanceof Error ? error.message : String(error) })
  })
})
