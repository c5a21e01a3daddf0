import { Schema } from "effect"
import { entryTypes } from "../../domain/EntryType.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"

/** The `balance` object of the account, guide/money.md#the-balance. */
export const Balance = Wire.struct({
  balanceCents: Field.signedCents("What is left.", 500),
  creditLimitCents: Field.cents("How far below zero the balance may go."),
  autoRechargeThresholdCents: Field.centsOrNull("A balance at or below this is topped up by itself; null: it is not."),
  autoRechargeAmountCents: Field.centsOrNull("By so much; null: auto-recharge is not enabled."),
  updatedAt: Field.time("When the balance changed last.")
}).pipe(Schema.annotateEncoded({ identifier: "Balance", description: "The prepaid money." }))
export type BalanceView = typeof Balance.Encoded

export const view = Wire.encoder(Balance)

/** A ledger entry, guide/money.md#the-ledger: signed cents, and the balance after them. */
export const LedgerEntry = Wire.struct({
  id: Field.id("ledger", "The entry."),
  type: Field.oneOf("What moved the balance.", entryTypes),
  amountCents: Field.signedCents("Negative: debited.", -2),
  balanceAfterCents: Field.signedCents("What it left.", 498),
  description: Field.text("In words.", "Call to +12025550100"),
  referenceType: Field.textOrNull("What kind of resource it is for.", "call"),
  referenceId: Field.textOrNull("That resource.", null),
  createdAt: Field.time("When it was booked.")
}).pipe(Schema.annotateEncoded({ identifier: "LedgerEntry" }))
export type LedgerEntry = typeof LedgerEntry.Type
export type LedgerEntryView = typeof LedgerEntry.Encoded

export const ledgerEntry = Wire.encoder(LedgerEntry)
