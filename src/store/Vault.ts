import { Context, Effect, Layer, Redacted } from "effect"
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto"
import { Entropy } from "../actor/Entropy.ts"

/**
 * Secrets at rest: AES-256-GCM under one key of the installation.
 *
 * Sealed text is `v1.<base64url of 12-byte nonce, ciphertext, 16-byte tag>`. Opening what was sealed under another key
 * dies: the installation lost its key, and nothing that depends on it can work.
 */
export class Vault extends Context.Service<
  Vault,
  {
    readonly seal: (plain: string) => string
    readonly open: (sealed: string) => string
  }
>()("trunkline/store/Vault") {
  /** `key`: 32 bytes. */
  static readonly layer = (key: Redacted.Redacted<Uint8Array>) =>
    Layer.effect(
      Vault,
      Effect.gen(function* () {
        const entropy = yield* Entropy
        return Vault.of({
          seal: (plain) => seal(Redacted.value(key), entropy.bytes(12), plain),
          open: (sealed) => open(Redacted.value(key), sealed)
        })
      })
    )
}

const tagLength = 16
const nonceLength = 12

export const seal = (key: Uint8Array, nonce: Uint8Array, plain: string): string => {
  const cipher = createCipheriv("aes-256-gcm", key, nonce)
  const sealed = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()])
  return `v1.${sealed.toString("base64url")}`
}

export const open = (key: Uint8Array, sealed: string): string => {
  const bytes = Buffer.from(sealed.slice(3), "base64url")
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceLength))
  decipher.setAuthTag(bytes.subarray(bytes.length - tagLength))
  const plain = decipher.update(bytes.subarray(nonceLength, bytes.length - tagLength))
  return Buffer.concat([plain, decipher.final()]).toString("utf8")
}

/** A 32-byte key for one purpose out of a longer-lived secret (RFC 5869, SHA-256). */
export const deriveKey = (secret: string | Uint8Array, salt: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, salt, purpose, 32))
