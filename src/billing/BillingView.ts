import { Schema } from "effect"
import * as Timestamp from "../domain/Timestamp.ts"

const Cents = Schema.Int

/** The `balance` object of the account, guide/money.md#the-balance. */
export const Balance = Schema.Struct({
  balance_cents: Cents,
  credit_limit_cents: Cents,
  auto_recharge_threshold_cents: Schema.NullOr(Cents),
  auto_recharge_amount_cents: Schema.NullOr(Cents),
  updated_at: Schema.String
})
export type BalanceView = typeof Balance.Type

/** A ledger entry, guide/money.md#the-ledger: signed cents, and the balance that they left. */
export const LedgerEntry = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  amount_cents: Cents,
  balance_after_cents: Cents,
  description: Schema.String,
  reference_type: Schema.NullOr(Schema.String),
  reference_id: Schema.NullOr(Schema.String),
  created_at: Schema.String
})
export type LedgerEntryView = typeof LedgerEntry.Type

export interface LedgerRow extends Omit<LedgerEntryView, "created_at"> {
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
