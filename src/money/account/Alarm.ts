import type { Letter } from "../../ports/letter/Letter.ts"
import type { AccountState } from "./AccountMachine.ts"

/**
 * What a tenant is told of its money by letter, guide/money.md#letters-about-money: that the balance is low, and that four
 * fifths of a cap are spent. Each is told once for each crossing.
 */
export interface Alarm {
  readonly kind: "low_balance" | "daily_cap" | "monthly_cap"
  /** What it is told once for: the day or month with its cap; empty: until the balance is above the limit again. */
  readonly period: string
  readonly letter: Letter
}

/** A balance of less than this, in cents, is low. */
export const lowBalanceCents = 200

/** From this share of a cap on it is told. */
export const share = 0.8

const dollars = (cents: number): string => `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toFixed(2)}`

export const isLow = ({ tally }: AccountState): boolean => tally.balanceCents < lowBalanceCents

/** What holds now, whether or not it was told. Who has spent nothing in this month has nothing to be told. */
export const of = (state: AccountState): ReadonlyArray<Alarm> => {
  const { settings, tally } = state
  if (settings.status !== "active" || tally.monthSpentCents <= 0) return []
  const { dailySpendCapCents, monthlySpendCapCents } = settings.quota
  const spent = (
    kind: "daily_cap" | "monthly_cap",
    cap: number | null,
    cents: number,
    period: string,
    resets: string
  ): ReadonlyArray<Alarm> =>
    cap === null || cap === 0 || cents < cap * share
      ? []
      : [
          {
            kind,
            period: `${period} ${cap}`,
            letter: {
              subject: `${dollars(cents)} of your ${kind === "daily_cap" ? "daily" : "monthly"} cap of ${dollars(cap)} are spent`,
              paragraphs: [
                `Your workspace has spent ${dollars(cents)} of its ${kind === "daily_cap" ? "daily" : "monthly"} cap of ${dollars(cap)}.`,
                `At the cap new calls are refused, and calls that talk end with the minutes that are reserved. The cap resets ${resets}.`
              ],
              link: null
            }
          }
        ]
  return [
    ...(isLow(state)
      ? [
          {
            kind: "low_balance" as const,
            period: "",
            letter: {
              subject: `Your balance is low: ${dollars(tally.balanceCents)}`,
              paragraphs: [
                `The balance of your workspace is ${dollars(tally.balanceCents)}.`,
                "Without money new calls are refused, and calls that talk end with the minutes that are paid. Top up, or enable auto-recharge."
              ],
              link: null
            }
          }
        ]
      : []),
    ...spent("daily_cap", dailySpendCapCents, tally.daySpentCents, tally.day, "at midnight UTC"),
    ...spent(
      "monthly_cap",
      monthlySpendCapCents,
      tally.monthSpentCents,
      tally.day.slice(0, 7),
      "on the first of the month, UTC"
    )
  ]
}
