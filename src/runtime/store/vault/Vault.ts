import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync } from "node:crypto"
import { Entropy } from "../../process/Entropy.ts"

/** The installation's key exists but cannot be used. Continuing would make a second key and lose every secret. */
export class VaultKeyUnusable extends Schema.TaggedError<VaultKeyUnusable>()("VaultKeyUnusable", {
  file: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `SECRET_KEY: ${this.file} ${this.detail}`
  }
}

/** The keys of an installation, 32 bytes each. */
export interface Keyring {
  readonly current: Redacted.Redacted<Uint8Array>
  /** The keys that open texts from before a rotation that has not ended. */
  readonly earlier: ReadonlyArray<Redacted.Redacted<Uint8Array>>
}

/**
 * Secrets at rest: AES-256-GCM under the key of the installation.
 *
 * Sealed text is `v1.<base64url of 12-byte nonce, ciphertext, 16-byte tag>`. Opening a text under a key that is not on
 * the ring dies: the installation lost its key, and nothing that depends on it can work. A column that holds sealed
 * text has its row in `SealedColumns.ts`.
 */
export class Vault extends Context.Service<
  Vault,
  {
    readonly seal: (plain: string) => string
    readonly open: (sealed: string) => string
    /** True when a key of the ring opens the text. */
    readonly opens: (sealed: string) => boolean
    /** True when the current key sealed the text. */
    readonly isCurrent: (sealed: string) => boolean
    readonly keys: () => Keyring
    /**
     * Seals and opens with these keys from now on. The keys of before still open, because texts under them may be in
     * memory.
     */
    readonly use: (keys: Keyring) => void
    /** Writes the keys where the next start finds them; null: the keys belong to the operator. */
    readonly keep: ((keys: Keyring) => Effect.Effect<void, VaultKeyUnusable>) | null
  }
>()("trunkline/store/Vault") {
  /** `key`: 32 bytes. */
  static readonly layer = (key: Redacted.Redacted<Uint8Array>) => Vault.layerOf({ current: key, earlier: [] })

  static readonly layerOf = (keyring: Keyring, keep: Vault["Service"]["keep"] = null) =>
    Layer.effect(
      Vault,
      Effect.gen(function* () {
        const entropy = yield* Entropy
        let ring = keyring
        const known: Array<Redacted.Redacted<Uint8Array>> = []
        const openAny = (sealed: string): string | null => {
          for (const key of [ring.current, ...ring.earlier, ...known]) {
            const plain = tryOpen(Redacted.value(key), sealed)
            if (plain !== null) return plain
          }
          return null
        }
        return Vault.of({
          seal: (plain) => seal(Redacted.value(ring.current), entropy.bytes(nonceLength), plain),
          open: (sealed) => openAny(sealed) ?? open(Redacted.value(ring.current), sealed),
          opens: (sealed) => openAny(sealed) !== null,
          isCurrent: (sealed) => tryOpen(Redacted.value(ring.current), sealed) !== null,
          keys: () => ring,
          use: (keys) => {
            known.push(ring.current, ...ring.earlier)
            ring = keys
          },
          keep
        })
      })
    )
}

const tagLength = 16
const nonceLength = 12

/** A 32-byte key that is ready for use. Code that seals often under one key makes it once. */
export type SealingKey = ReturnType<typeof createSecretKey>

export const sealingKey = (bytes: Uint8Array): SealingKey => createSecretKey(bytes)

/** Always makes a key object, because Node first looks for one, and a raw key costs three times as much. */
const ready = (key: SealingKey | Uint8Array): SealingKey => (key instanceof Uint8Array ? sealingKey(key) : key)

export const seal = (key: SealingKey | Uint8Array, nonce: Uint8Array, plain: string): string => {
  const cipher = createCipheriv("aes-256-gcm", ready(key), nonce)
  const sealed = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()])
  return `v1.${sealed.toString("base64url")}`
}

export const open = (key: SealingKey | Uint8Array, sealed: string): string => {
  const bytes = Buffer.from(sealed.slice(3), "base64url")
  const decipher = createDecipheriv("aes-256-gcm", ready(key), bytes.subarray(0, nonceLength))
  decipher.setAuthTag(bytes.subarray(bytes.length - tagLength))
  const plain = decipher.update(bytes.subarray(nonceLength, bytes.length - tagLength))
  return Buffer.concat([plain, decipher.final()]).toString("utf8")
}

/** Opens the text; null: another key sealed it. */
const tryOpen = (key: Uint8Array, sealed: string): string | null => {
  try {
    return open(key, sealed)
  } catch {
    return null
  }
}

/** Derives a 32-byte key for one purpose from a longer-lived secret (RFC 5869, SHA-256). */
export const deriveKey = (secret: string | Uint8Array, salt: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, salt, purpose, 32))
