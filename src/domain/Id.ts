import { hash } from "node:crypto"
import { Schema } from "effect"

/**
 * Identifiers, guide/requests.md#ids: `svc_<type>_<32 hex>` for telephony and money, UUIDs for identity and operations.
 *
 * Each kind is a type of its own, so the compiler refuses a leg where a call is meant. The schemas check nothing,
 * because they read stored values: `pattern` is for values from outside.
 *
 * Ids are never drawn at random where decisions are made: they are derived from the `seed` of the input that caused
 * them, so that a replay of the journal gives the same ids.
 */
export const CallId = Schema.String.pipe(Schema.brand("CallId"))
export type CallId = typeof CallId.Type
export const LegId = Schema.String.pipe(Schema.brand("LegId"))
export type LegId = typeof LegId.Type
export const RouteId = Schema.String.pipe(Schema.brand("RouteId"))
export type RouteId = typeof RouteId.Type
export const SubscriptionId = Schema.String.pipe(Schema.brand("SubscriptionId"))
export type SubscriptionId = typeof SubscriptionId.Type
export const NumberId = Schema.String.pipe(Schema.brand("NumberId"))
export type NumberId = typeof NumberId.Type
export const OrderId = Schema.String.pipe(Schema.brand("OrderId"))
export type OrderId = typeof OrderId.Type
export const LedgerEntryId = Schema.String.pipe(Schema.brand("LedgerEntryId"))
export type LedgerEntryId = typeof LedgerEntryId.Type
export const RecordingId = Schema.String.pipe(Schema.brand("RecordingId"))
export type RecordingId = typeof RecordingId.Type
export const StreamId = Schema.String.pipe(Schema.brand("StreamId"))
export type StreamId = typeof StreamId.Type
/** A session of transcription. */
export const TranscriptionId = Schema.String.pipe(Schema.brand("TranscriptionId"))
export type TranscriptionId = typeof TranscriptionId.Type
export const ConferenceId = Schema.String.pipe(Schema.brand("ConferenceId"))
export type ConferenceId = typeof ConferenceId.Type
/** A result of machine detection. */
export const MachineDetectionId = Schema.String.pipe(Schema.brand("MachineDetectionId"))
export type MachineDetectionId = typeof MachineDetectionId.Type
/** A member of a conference. */
export const MemberId = Schema.String.pipe(Schema.brand("MemberId"))
export type MemberId = typeof MemberId.Type
export const PaymentMethodId = Schema.String.pipe(Schema.brand("PaymentMethodId"))
export type PaymentMethodId = typeof PaymentMethodId.Type
export const InvoiceId = Schema.String.pipe(Schema.brand("InvoiceId"))
export type InvoiceId = typeof InvoiceId.Type
export const PortingOrderId = Schema.String.pipe(Schema.brand("PortingOrderId"))
export type PortingOrderId = typeof PortingOrderId.Type
export const PortingDocumentId = Schema.String.pipe(Schema.brand("PortingDocumentId"))
export type PortingDocumentId = typeof PortingDocumentId.Type
/** An address for emergency services. */
export const AddressId = Schema.String.pipe(Schema.brand("AddressId"))
export type AddressId = typeof AddressId.Type

/** The ids that begin with `svc_` and a prefix. */
interface Prefixed {
  readonly call: CallId
  readonly leg: LegId
  readonly route: RouteId
  readonly sub: SubscriptionId
  readonly did: NumberId
  readonly order: OrderId
  readonly ledger: LedgerEntryId
  readonly rec: RecordingId
  readonly stream: StreamId
  readonly tx: TranscriptionId
  readonly amd: MachineDetectionId
  readonly conf: ConferenceId
  readonly member: MemberId
  readonly pm: PaymentMethodId
  readonly inv: InvoiceId
  readonly port: PortingOrderId
  readonly doc: PortingDocumentId
  readonly addr: AddressId
}
export type Prefix = keyof Prefixed
export type Of<P extends Prefix> = Prefixed[P]

export const TenantId = Schema.String.pipe(Schema.brand("TenantId"))
export type TenantId = typeof TenantId.Type
/** A user of a tenant. */
export const UserId = Schema.String.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type
export const ApiKeyId = Schema.String.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type
export const EventId = Schema.String.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type
export const DeliveryId = Schema.String.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type
export const AuditId = Schema.String.pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type
/** An invitation of a person to a tenant. */
export const InvitationId = Schema.String.pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type
/** A rule of the operator on which numbers may be dialled. */
export const DialingRuleId = Schema.String.pipe(Schema.brand("DialingRuleId"))
export type DialingRuleId = typeof DialingRuleId.Type

/** The ids that are UUIDs, by the kind under which they are derived. */
interface Uuids {
  readonly tenant: TenantId
  readonly member: UserId
  readonly api_key: ApiKeyId
  readonly event: EventId
  readonly audit: AuditId
  readonly destination_rule: DialingRuleId
  readonly invitation: InvitationId
}

/** A command to a carrier. */
export const CommandId = Schema.String.pipe(Schema.brand("CommandId"))
export type CommandId = typeof CommandId.Type
/** Work of the tenant on a leg (a playback, a gather): the media plane reports its end under this id. */
export const WorkId = Schema.String.pipe(Schema.brand("WorkId"))
export type WorkId = typeof WorkId.Type

/** An entity has a state in the journal and a numbering of its events. */
export type EntityId = CallId | ConferenceId | OrderId | TenantId

/** The one spelling of an id of this type. The published document shows a pattern only if it has the flag `u`. */
export const pattern = (type: Prefix): RegExp => new RegExp(`^svc_${type}_[0-9a-f]{32}$`, "u")
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

/** Ids of this type, unchecked. On the wire an id is the same text. */
export const schema = <P extends Prefix>(_type: P): Schema.Codec<Of<P>, Of<P>> =>
  Schema.String as unknown as Schema.Codec<Of<P>, Of<P>>

/** Ids of this type from outside: in their one spelling. */
export const spelled = <P extends Prefix>(type: P): Schema.Codec<Of<P>, Of<P>> =>
  schema(type).check(Schema.isPattern(pattern(type)))

/** UUIDs of one kind from outside. */
export const spelledUuid = <Uuid extends string>(kind: Schema.Codec<Uuid, string>): Schema.Codec<Uuid, Uuid> =>
  kind.check(Schema.isPattern(uuidPattern)) as unknown as Schema.Codec<Uuid, Uuid>

const digest = (seed: string, kind: string, index: number) =>
  hash("sha256", `${seed}\u0000${kind}\u0000${index}`, "hex")

/** `svc_<kind>_` and the first 128 bits of SHA-256 over seed, kind and index. */
export const derive = <P extends Prefix>(seed: string, kind: P, index = 0): Of<P> =>
  `svc_${kind}_${digest(seed, kind, index).slice(0, 32)}` as Of<P>

/** An id of `kind` from 32 hex digits (`deriveOpaque`). */
export const ofOpaque = <P extends Prefix>(kind: P, opaque: string): Of<P> => `svc_${kind}_${opaque}` as Of<P>

/** 32 hex digits, for ids that never leave with a prefix. */
export const deriveOpaque = (seed: string, kind: string, index = 0): string => digest(seed, kind, index).slice(0, 32)

/** A UUID (RFC 9562 version 8) for a record, from the seed of the request that makes it. */
export const deriveUuid = <K extends keyof Uuids>(seed: string, kind: K, index = 0): Uuids[K] => {
  const hex = digest(seed, kind, index)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variantOf(hex)}${hex.slice(17, 20)}-${hex.slice(20, 32)}` as Uuids[K]
}

/**
 * A UUID that begins with its time (RFC 9562 version 7), `at` in epoch milliseconds; its random part follows from the
 * seed. For events, from entity and sequence: rows that were written together are neighbours in an index.
 */
export const deriveTimeUuid = <K extends keyof Uuids>(at: number, seed: string, kind: K, index = 0): Uuids[K] => {
  const hex = digest(seed, kind, index)
  const time = at.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${hex.slice(13, 16)}-${variantOf(hex)}${hex.slice(17, 20)}-${hex.slice(20, 32)}` as Uuids[K]
}

const variantOf = (hex: string): string => ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)

/** Whether the text begins as an id of `type`, whatever follows. `is` checks the whole. */
export const hasPrefix = (type: Prefix, id: string): boolean => id.startsWith(`svc_${type}_`)

/** Whether the text is an id of `type` in its one spelling. No other text is looked up, kept or used as a key. */
export const is = <P extends Prefix>(type: P, id: string): id is Of<P> => pattern(type).test(id)

export const isUuid = (id: string): boolean => uuidPattern.test(id)
