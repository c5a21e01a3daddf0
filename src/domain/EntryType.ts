/** The types of ledger entries, guide/money.md#the-ledger. */
export const entryTypes = [
  "call_charge",
  "topup",
  "auto_recharge",
  "recording_charge",
  "transcription_charge",
  "amd_charge",
  "conference_charge",
  "number_order",
  "number_renewal",
  "lookup_charge",
  "plan_fee",
  "refund",
  "adjustment"
] as const
export type EntryType = (typeof entryTypes)[number]
