import { hash } from "node:crypto"
import { Schema } from "effect"

/**
 * Identifiers, guide/requests.md#ids: `svc_<type>_<32 hex>` for telephony and money, UUIDs for identity and operations.
 *
 * New ids are never drawn where decisions are made: they are derived from the `seed` of the input that caused them,
 * so that replaying the journal gives the same ids.
 */
const prefixed = (prefix: Prefix) => Schema.String.check(Schema.isPattern(pattern(prefix)))

/** The one spelling of an id of this type. */
export const pattern = (type: Prefix): RegExp => new RegExp(`^svc_${type}_[0-9a-f]{32}$`, "u")

/**
 * Wire schemas of the ids; inside the process an id is a string that its field's name explains. The published document
 * shows a pattern only if it has the flag `u`.
 */
export const CallId = prefixed("call")
export const LegId = prefixed("leg")
export const RouteId = prefixed("route")
export const SubscriptionId = prefixed("sub")
export const RecordingId = prefixed("rec")
export const StreamId = prefixed("stream")
export const ConferenceId = prefixed("conf")
export const MemberId = prefixed("member")
export const OrderId = prefixed("order")
export const NumberId = prefixed("did")
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u
export const Uuid = Schema.String.check(Schema.isPattern(uuidPattern))

/** The prefixes of ids that this service makes. */
export type Prefix =
  | "call"
  | "leg"
  | "route"
  | "sub"
  | "did"
  | "order"
  | "ledger"
  | "rec"
  | "stream"
  | "tx"
  | "amd"
  | "conf"
  | "member"

const digest = (seed: string, kind: string, index: number) =>
  hash("sha256", `${seed}\u0000${kind}\u0000${index}`, "hex")

/** `svc_<kind>_` and the first 128 bits of SHA-256 over seed, kind and index. */
export const derive = (seed: string, kind: Prefix, index = 0): string =>
  `svc_${kind}_${digest(seed, kind, index).slice(0, 32)}`

/** An opaque 32-hex identity for what never leaves as an id of its own (commands, gathers). */
export const deriveOpaque = (seed: string, kind: string, index = 0): string => digest(seed, kind, index).slice(0, 32)

/** A UUID (RFC 9562 version 8) from a seed: of records, from the seed of the request that makes them. */
export const deriveUuid = (seed: string, kind: string, index = 0): string => {
  const hex = digest(seed, kind, index)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variantOf(hex)}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * A UUID that begins with its time (RFC 9562 version 7), `at` in epoch milliseconds; what is random there follows from
 * the seed. Of events, from entity and sequence: rows that were written together stand together in an index.
 */
export const deriveTimeUuid = (at: number, seed: string, kind: string, index = 0): string => {
  const hex = digest(seed, kind, index)
  const time = at.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${hex.slice(13, 16)}-${variantOf(hex)}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const variantOf = (hex: string): string => ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)

/** Is meant as an id of `type`, however it goes on: `is` says whether it can be one. */
export const hasPrefix = (type: Prefix, id: string): boolean => id.startsWith(`svc_${type}_`)

/** Is an id of `type`, spelled as this service spells it. Nothing else is looked up, kept or used as a key. */
export const is = (type: Prefix, id: string): boolean => pattern(type).test(id)

export const isUuid = (id: string): boolean => uuidPattern.test(id)
