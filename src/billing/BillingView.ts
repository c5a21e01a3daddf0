import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import * as Timestamp from "../domain/Timestamp.ts"

/** The `balance` object of the account, guide/money.md#the-balance. */
export const Balance = Schema.Struct({
  balance_cents: Field.signedCents("What is left.", 500),
  credit_limit_cents: Field.cents("How far below zero the balance may go."),
  auto_recharge_threshold_cents: Field.centsOrNull("Not built yet: always null."),
  auto_recharge_amount_cents: Field.centsOrNull("Not built yet: always null."),
  updated_at: Field.moment("When the balance changed last.")
}).annotate({ description: "The prepaid money." })
export type BalanceView = typeof Balance.Type

/** A ledger entry, guide/money.md#the-ledger: signed cents, and the balance that they left. */
const LedgerEntry = Schema.Struct({
  id: Field.id("ledger", "The entry."),
  type: Field.text("What moved the balance.", "call_charge"),
  amount_cents: Field.signedCents("Negative: debited.", -2),
  balance_after_cents: Field.signedCents("What it left.", 498),
  description: Field.text("In words.", "Call to +12025550100"),
  reference_type: Field.textOrNull("What kind of resource it is for.", "call"),
  reference_id: Field.textOrNull("That resource.", null),
  created_at: Field.moment("When it was booked.")
})
export type LedgerEntryView = typeof LedgerEntry.Type

interface LedgerRow extends Omit<LedgerEntryView, "created_at"> {
  /** Epoch milliseconds. */
  readonly at: number
}

export const ledgerEntry = (row: LedgerRow): LedgerEntryView => ({
  id: row.id,
  type: row.type,
  amount_cents: row.amount_cents,
  balance_after_cents: row.balance_after_cents,
  description: row.description,
  reference_type: row.reference_type,
  reference_id: row.reference_id,
  created_at: Timestamp.format(row.at)
})
