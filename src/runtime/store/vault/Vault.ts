import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync } from "node:crypto"
import { Entropy } from "../../process/Entropy.ts"

/** The installation's key exists but cannot be used: going on would make a second one and lose every secret. */
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
  /** It seals. */
  readonly current: Redacted.Redacted<Uint8Array>
  /** They open what was sealed before a rotation that has not ended. */
  readonly earlier: ReadonlyArray<Redacted.Redacted<Uint8Array>>
}

/**
 * Secrets at rest: AES-256-GCM under the key of the installation.
 *
 * Sealed text is `v1.<base64url of 12-byte nonce, ciphertext, 16-byte tag>`. Opening what was sealed under a key that
 * is not on the ring dies: the installation lost its key, and nothing that depends on it can work. A column that holds
 * sealed text has its row in `SealedColumns.ts`.
 */
export class Vault extends Context.Service<
  Vault,
  {
    readonly seal: (plain: string) => string
    readonly open: (sealed: string) => string
    /** Whether some key of the ring opens it. */
    readonly opens: (sealed: string) => boolean
    /** Whether the current key sealed it. */
    readonly isCurrent: (sealed: string) => boolean
    readonly keys: () => Keyring
    /** What seals and opens from now on. What this process knew before still opens: texts under it may be in memory. */
    readonly use: (keys: Keyring) => void
    /** Writes the keys where the next start finds them; null: they are the operator's, not ours. */
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

/** A key of 32 bytes that is ready for use. Whoever seals often under one key makes this once. */
export type SealingKey = ReturnType<typeof createSecretKey>

export const sealingKey = (bytes: Uint8Array): SealingKey => createSecretKey(bytes)

/** Node looks for a key object at first, which costs three times as much where there is none. */
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

/** Null: another key sealed it. */
const tryOpen = (key: Uint8Array, sealed: string): string | null => {
  try {
    return open(key, sealed)
  } catch {
    return null
  }
}

/** A 32-byte key for one purpose out of a longer-lived secret (RFC 5869, SHA-256). */
export const deriveKey = (secret: string | Uint8Array, salt: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, salt, purpose, 32))
