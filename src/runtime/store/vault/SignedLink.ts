import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import { deriveKey, type Keyring } from "./Vault.ts"

/**
 * Signs links to files that are valid for a limited time: an HMAC-SHA256 over name and expiry, under a key that is
 * derived from the vault's for `purpose`. A client with a link needs no API key, and a client without one cannot make
 * it.
 */
const signatureOf = (key: Keyring["current"], purpose: string, file: string, expires: string): Buffer =>
  createHmac("sha256", deriveKey(Redacted.value(key), "", purpose))
    .update(`${file}\n${expires}`)
    .digest()

/** The query of a link to `file` that is valid until `untilMs`. */
export const sign = (ring: Keyring, purpose: string, file: string, untilMs: number): string => {
  const expires = String(Math.floor(untilMs / 1000))
  return `expires=${expires}&signature=${signatureOf(ring.current, purpose, file, expires).toString("hex")}`
}

export interface Link {
  readonly file: string
  readonly expires: string
  readonly signature: string
}

/** True when the link is valid at `now`. The comparison takes the same time whatever is wrong with the signature. */
export const holds = ({ current, earlier }: Keyring, purpose: string, link: Link, now: number): boolean => {
  if (!/^[0-9]{1,12}$/.test(link.expires) || Number(link.expires) * 1000 <= now) return false
  const given = Buffer.alloc(32)
  const isHex = /^[0-9a-f]{64}$/u.test(link.signature) && given.write(link.signature, "hex") === 32
  const isSigned = [current, ...earlier]
    .map((key) => timingSafeEqual(signatureOf(key, purpose, link.file, link.expires), given))
    .includes(true)
  return isHex && isSigned
}
