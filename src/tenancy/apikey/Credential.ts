import { hash, timingSafeEqual } from "node:crypto"

/**
 * The key string that a client holds: `svc_live_` and 32 random bytes in base64url.
 *
 * At rest a key is its prefix (the first 16 characters, by which it is found and shown) and SHA-256(salt, key). A fast
 * hash is enough, because a key has 256 random bits, unlike a password.
 */
export interface Stored {
  readonly prefix: string
  /** 16 bytes, hex. */
  readonly salt: string
  /** Hex. */
  readonly hash: string
}

const form = /^svc_live_[A-Za-z0-9_-]{43}$/
const prefixLength = 16

/** `secret` is 32 random bytes. */
export const make = (secret: Uint8Array): string => `svc_live_${Buffer.from(secret).toString("base64url")}`

/** A string of another form cannot be a key, so it is not looked up. */
export const isForm = (credential: string): boolean => form.test(credential)

export const prefixOf = (credential: string): string => credential.slice(0, prefixLength)

const saltedHash = (salt: string, credential: string) => hash("sha256", `${salt}${credential}`, "buffer")

/** `salt` is 16 random bytes in hex. */
export const store = (credential: string, salt: string): Stored => ({
  prefix: prefixOf(credential),
  salt,
  hash: saltedHash(salt, credential).toString("hex")
})

/** Compares in constant time. */
export const matches = (credential: string, stored: Pick<Stored, "salt" | "hash">): boolean => {
  const expected = Buffer.from(stored.hash, "hex")
  const actual = saltedHash(stored.salt, credential)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

/** Identifies a credential in memory without keeping it. */
export const fingerprint = (credential: string): string => hash("sha256", credential, "base64")
