import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"

/** The possible faults, guide/money.md#proof. Only `Verification` finds `seal_differs`, as it reads every entry. */
const exceptionCodes = [
  "balance_differs",
  "entry_differs",
  "seal_differs",
  "call_not_debited",
  "processor_differs"
] as const
export type ExceptionCode = (typeof exceptionCodes)[number]

/** Answer of `GET /v1/billing/proof`. */
export const Proof = Wire.struct({
  balanceCents: Field.signedCents("The balance."),
  ledgerSumCents: Field.signedCents("The sum of all entries of the ledger, which is the balance."),
  entries: Field.count("Entries of the ledger.", 12),
  sealed: Wire.struct({
    through: Field.timeOrNull("When the last sealed entry was booked; null: nothing is sealed yet."),
    entries: Field.count("Entries that are sealed, from the first on.", 10),
    chainHash: Field.text("The chain over these entries: SHA-256, in hex.", "0123456789abcdef".repeat(4))
  }).pipe(Schema.annotateEncoded({ description: "What the sealer has sealed; it comes by once a day." })),
  tail: Wire.struct({
    entries: Field.count("Entries behind the seal.", 2),
    sumCents: Field.signedCents("Their sum.", -3)
  }).pipe(Schema.annotateEncoded({ description: "What is not sealed yet." })),
  calls: Wire.struct({
    ratedWithCost: Field.count("Calls that have ended and cost something, since the first.", 9),
    debited: Field.count("Those of them whose cost stands in the ledger, to the cent.", 9)
  }).pipe(Schema.annotateEncoded({ description: "Calls against debits." })),
  attemptsOpen: Field.count("Charges of cards whose outcome is not known yet.", 0),
  processor: Schema.NullOr(
    Wire.struct({
      chargedCents: Field.cents("What the card payment processor has charged."),
      refundedCents: Field.cents("What went back to cards."),
      differenceCents: Field.signedCents("What the processor has, less what the ledger says it has.", 0),
      checkedAt: Field.text("When it was asked.", "2026-01-01T00:00:00.000Z")
    })
  ).annotate({ description: "What the last daily reconciliation with the processor said; null: there was none." }),
  exceptions: Schema.Array(
    Wire.struct({
      code: Field.oneOf("What is wrong.", exceptionCodes),
      message: Field.text("In words.", "1 rated call has no debit")
    })
  ).annotate({ description: "What does not add up; nothing, when all is well." }),
  checkedAt: Field.time("When this was computed.")
}).pipe(Schema.annotateEncoded({ identifier: "Proof" }))
export type ProofView = typeof Proof.Encoded

export const view = Wire.encoder(Proof)
