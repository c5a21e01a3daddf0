import * as Id from "../../domain/Id.ts"
import * as SignedLink from "../../runtime/store/vault/SignedLink.ts"
import type { Keyring } from "../../runtime/store/vault/Vault.ts"

/** How long a link is valid. A download that has begun continues after that. */
const lifetimeMs = 600_000

/** The URL path of the files of recordings. */
export const path = "/recordings/"

const purpose = "download of recordings"

const fileName = /^(svc_rec_[0-9a-f]{32})\.(mp3|wav)$/u

/** The name of a recording's file, for clients and in an object store. */
export const fileOf = ({ format, id }: { readonly id: Id.RecordingId; readonly format: "mp3" | "wav" }): string =>
  `${id}.${format}`

/** A signed link to the file of a recording (`SignedLink`). */
export const sign = (ring: Keyring, file: string, now: number): string =>
  `${path}${file}?${SignedLink.sign(ring, purpose, file, now + lifetimeMs)}`

/** The recording that a link leads to at `now`; null: none. */
export const check = (ring: Keyring, link: SignedLink.Link, now: number): Id.RecordingId | null => {
  const [, id] = fileName.exec(link.file) ?? []
  return id !== undefined && SignedLink.holds(ring, purpose, link, now) && Id.is("rec", id) ? id : null
}
