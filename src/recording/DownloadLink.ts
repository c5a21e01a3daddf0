import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import * as Id from "../domain/Id.ts"
import { deriveKey, type Keyring } from "../store/Vault.ts"

/** For so long a link leads to its file. A download that has begun goes on. */
export const lifetimeMs = 600_000

/** Path of the files of recordings. */
export const path = "/recordings/"

const signatureOf = (key: Redacted.Redacted<Uint8Array>, file: string, expires: string): Buffer =>
  createHmac("sha256", deriveKey(Redacted.value(key), "", "download of recordings"))
    .update(`${file}\n${expires}`)
    .digest()

const fileName = /^(svc_rec_[0-9a-f]{32})\.(mp3|wav)$/u

/** The name of the file of a recording, for clients and in a store. */
export const fileOf = ({ format, id }: { readonly id: Id.RecordingId; readonly format: "mp3" | "wav" }): string =>
  `${id}.${format}`

/**
 * Links to the files of recordings: an HMAC-SHA256 over name and expiry, under a key that is derived from that of the
 * vault. Who has a link needs no key; who has none cannot make one.
 */
export const sign = (ring: Keyring, file: string, now: number): string => {
  const expires = String(Math.floor((now + lifetimeMs) / 1000))
  return `${path}${file}?expires=${expires}&signature=${signatureOf(ring.current, file, expires).toString("hex")}`
}

/** The recording to which a link leads at `now`; null: to none. It takes as long whatever is wrong with the signature. */
export const check = (
  { current, earlier }: Keyring,
  link: { readonly file: string; readonly expires: string; readonly signature: string },
  now: number
): Id.RecordingId | null => {
  const [, id] = fileName.exec(link.file) ?? []
  if (id === undefined || !/^[0-9]{1,12}$/.test(link.expires) || Number(link.expires) * 1000 <= now) return null
  const given = Buffer.alloc(32)
  const isHex = /^[0-9a-f]{64}$/u.test(link.signature) && given.write(link.signature, "hex") === 32
  const isSigned = [current, ...earlier]
    .map((key) => timingSafeEqual(signatureOf(key, link.file, link.expires), given))
    .includes(true)
  return isHex && isSigned && Id.is("rec", id) ? id : null
}
