import { Schema } from "effect"
import { E164 } from "../../domain/E164.ts"
import * as Field from "../../domain/schema/Field.ts"
import type { NumberId, TenantId } from "../../domain/Id.ts"
import * as Name from "../../domain/schema/Name.ts"
import * as Wire from "../../domain/schema/Wire.ts"

/** Porting orders and their documents, guide/porting.md: their rows, and how they are shown. */

export const PortingStatus = Schema.Literals([
  "draft",
  "submitted",
  "exception",
  "foc_confirmed",
  "ported",
  "cancel_pending",
  "cancelled"
])
export type PortingStatus = typeof PortingStatus.Type

export const DocumentType = Schema.Literals(["loa", "invoice", "csr", "other"])
export type DocumentType = typeof DocumentType.Type

export const DocumentStatus = Schema.Literals(["pending", "verified", "rejected"])
export type DocumentStatus = typeof DocumentStatus.Type

/** The reasons of a losing carrier to refuse. */
export const ExceptionCode = Schema.Literals([
  "account_number_mismatch",
  "pin_passcode_mismatch",
  "entity_name_mismatch",
  "authorized_person_mismatch",
  "billing_phone_number_mismatch",
  "address_mismatch",
  "number_not_portable",
  "number_inactive",
  "other_order_pending",
  "document_rejected",
  "other"
])
const ExceptionDetail = Schema.Struct({
  code: ExceptionCode.annotate({ description: "What is wrong.", examples: ["account_number_mismatch"] }),
  description: Field.text("In words.", "the account number is another one")
})
export type ExceptionDetail = typeof ExceptionDetail.Type

const line = Name.of(200)
const lineOrNull = (description: string, example: string) =>
  Schema.NullOr(line).annotate({ description, examples: [example] })

const Address = Wire.struct({
  streetAddress: line.annotate({ description: "Street and number.", examples: ["1600 Market Street"] }),
  extendedAddress: Wire.absentIs(null, lineOrNull("Floor, suite.", "Suite 4")),
  locality: line.annotate({ description: "Town.", examples: ["Philadelphia"] }),
  administrativeArea: line.annotate({ description: "State or province.", examples: ["PA"] }),
  postalCode: line.annotate({ description: "As it is written there.", examples: ["19103"] }),
  countryCode: Schema.String.check(
    Schema.isPattern(/^[A-Z]{2}$/u, { message: "must be a country code of two upper-case letters" })
  ).annotate({ description: "ISO 3166-1 alpha-2.", examples: ["US"] })
}).pipe(Schema.annotateEncoded({ description: "Where the losing carrier serves the customer." }))

const entityName = lineOrNull("Company or person.", "Acme Inc.")
const authorizedPersonName = lineOrNull("Who signs.", "Ada Lovelace")
const accountNumber = lineOrNull("With the losing carrier. Never shown again.", "A-1234")
const pinPasscode = lineOrNull("Where the account has one. Never shown again.", "0000")
const billingPhoneNumber = Schema.NullOr(E164).annotate({
  description: "Of the account, E.164.",
  examples: ["+12155550100"]
})
const address = Schema.NullOr(Address).pipe(
  Schema.annotateEncoded({ description: "Where the losing carrier serves the customer." })
)

/** The owner of the numbers at the losing carrier. A field is null until it is given. */
export const EndUser = Wire.struct({
  entityName: Wire.absentIs(null, entityName),
  authorizedPersonName: Wire.absentIs(null, authorizedPersonName),
  accountNumber: Wire.absentIs(null, accountNumber),
  pinPasscode: Wire.absentIs(null, pinPasscode),
  billingPhoneNumber: Wire.absentIs(null, billingPhoneNumber),
  address: Wire.absentIs(null, address)
}).pipe(Schema.annotateEncoded({ identifier: "PortingEndUser" }))
export type EndUser = typeof EndUser.Type

/** Absent fields stay unchanged. */
export const EndUserChange = Wire.struct({
  entityName: Schema.optionalKey(entityName),
  authorizedPersonName: Schema.optionalKey(authorizedPersonName),
  accountNumber: Schema.optionalKey(accountNumber),
  pinPasscode: Schema.optionalKey(pinPasscode),
  billingPhoneNumber: Schema.optionalKey(billingPhoneNumber),
  address: Schema.optionalKey(address)
}).pipe(Schema.annotateEncoded({ identifier: "PortingEndUserChange" }))

const ShownAddress = Wire.struct({
  streetAddress: Field.text("Street and number.", "1600 Market Street"),
  extendedAddress: Field.textOrNull("Floor, suite.", "Suite 4"),
  locality: Field.text("Town.", "Philadelphia"),
  administrativeArea: Field.text("State or province.", "PA"),
  postalCode: Field.text("As it is written there.", "19103"),
  countryCode: Field.text("ISO 3166-1 alpha-2.", "US")
})

const ShownEndUser = Wire.struct({
  entityName: Field.textOrNull("Company or person.", "Acme Inc."),
  authorizedPersonName: Field.textOrNull("Who signs.", "Ada Lovelace"),
  billingPhoneNumber: Field.textOrNull("Of the account, E.164.", "+12155550100"),
  address: Schema.NullOr(ShownAddress).pipe(
    Schema.annotateEncoded({ description: "Where the losing carrier serves the customer." })
  )
}).pipe(Schema.annotateEncoded({ description: "Account number and PIN are never shown." }))

export const PortingDocument = Wire.struct({
  id: Field.id("doc", "The document."),
  portingOrderId: Field.id("port", "Its order."),
  documentType: DocumentType.annotate({ description: "What it is.", examples: ["loa"] }),
  filename: Field.text("As it was given.", "loa.pdf"),
  contentType: Field.text("By its own bytes.", "application/pdf"),
  sizeBytes: Field.count("Of the file.", 48_213),
  sha256: Field.text("Of the file, hex.", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
  status: DocumentStatus.annotate({ description: "What the operator found.", examples: ["pending"] }),
  createdAt: Field.time("When it came.")
}).pipe(Schema.annotateEncoded({ identifier: "PortingDocument" }))
export type PortingDocumentView = typeof PortingDocument.Encoded

const PortedNumber = Wire.struct({
  phoneNumber: Field.text("E.164.", "+12155550123"),
  status: Field.oneOf("What becomes of it.", ["pending", "port_pending", "ported", "cancelled"]),
  activationStatus: Field.oneOfOrNull("Whether it works here; null: not yet submitted, or cancelled.", [
    "pending",
    "active"
  ])
})

export const PortingOrder = Wire.struct({
  id: Field.id("port", "The order."),
  status: PortingStatus.annotate({ description: "Where it stands.", examples: ["draft"] }),
  statusDetails: Schema.Array(ExceptionDetail).annotate({ description: "Of an `exception`: what has to be changed." }),
  phoneNumbers: Schema.Array(PortedNumber).annotate({ description: "Each number of the order." }),
  endUser: ShownEndUser,
  documents: Schema.Array(PortingDocument).annotate({ description: "Oldest first; on lists empty." }),
  requestedFocAt: Field.timeOrNull("When the tenant wants the numbers to move."),
  focAt: Field.timeOrNull("When they will (firm order commitment)."),
  losingCarrier: Field.textOrNull("Who has the numbers now, where that is known.", null),
  routeId: Field.idOrNull("route", "The connection of their calls; null: the default one."),
  customerReference: Field.textOrNull("As given.", "move 7"),
  parentId: Field.idOrNull("port", "The order that this one was split from; null: none."),
  submittedAt: Field.timeOrNull("When it was last submitted."),
  portedAt: Field.timeOrNull("When its numbers became active here."),
  cancelledAt: Field.timeOrNull("When it was cancelled."),
  createdAt: Field.time("When it was made."),
  updatedAt: Field.time("When one of these fields changed last.")
}).pipe(Schema.annotateEncoded({ identifier: "PortingOrder" }))
export type PortingOrderView = typeof PortingOrder.Encoded

export const Portability = Wire.struct({
  phoneNumber: Field.text("E.164.", "+12155550123"),
  portable: Field.flag("Whether an order with it is taken.", true),
  fastPortable: Field.flag("Whether it moves within a day; no carrier tells us that, so it is false.", false),
  notPortableReason: Field.oneOfOrNull("Null: it is portable.", [
    "invalid_number",
    "not_supported",
    "already_here",
    "porting_in_progress"
  ])
}).pipe(Schema.annotateEncoded({ identifier: "Portability" }))
export type Portability = typeof Portability.Type
export const portability = Wire.encoder(Portability)

/** Times are epoch milliseconds. */
export type DocumentRow = typeof PortingDocument.Type

export interface OrderedNumber {
  readonly phoneNumber: string
  readonly countryCode: string
  readonly numberType: "local" | "toll_free" | "mobile" | "national"
  readonly numberId: NumberId
}

export interface OrderRow extends Omit<
  typeof PortingOrder.Type,
  "statusDetails" | "phoneNumbers" | "documents" | "endUser"
> {
  readonly tenantId: TenantId
  readonly details: ReadonlyArray<ExceptionDetail>
  readonly numbers: ReadonlyArray<OrderedNumber>
  readonly endUser: Omit<EndUser, "accountNumber" | "pinPasscode">
}

export const document = Wire.encoder(PortingDocument)

const encode = Wire.encoder(PortingOrder)

export const order = (row: OrderRow, documents: ReadonlyArray<DocumentRow>): PortingOrderView =>
  encode({
    ...row,
    statusDetails: row.details,
    phoneNumbers: row.numbers.map(({ phoneNumber }) => ({ phoneNumber, ...numberStatus[row.status] })),
    documents
  })

const underWay = { status: "port_pending", activationStatus: "pending" } as const
const numberStatus = {
  draft: { status: "pending", activationStatus: null },
  submitted: underWay,
  exception: underWay,
  foc_confirmed: underWay,
  cancel_pending: underWay,
  ported: { status: "ported", activationStatus: "active" },
  cancelled: { status: "cancelled", activationStatus: null }
} as const satisfies Readonly<Record<PortingStatus, unknown>>
