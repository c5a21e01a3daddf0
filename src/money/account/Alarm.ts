import type { Letter } from "../../ports/letter/Letter.ts"
import type { AccountState } from "./AccountMachine.ts"

/**
 * A letter about money, guide/money.md#letters-about-money: the balance is low, or four fifths of a cap are spent. It
 * is sent once for each crossing.
 */
export interface Alarm {
  readonly kind: "low_balance" | "daily_cap" | "monthly_cap"
  /** The period of one letter: the day or month with its cap; empty: until the balance is above the limit again. */
  readonly period: string
  readonly letter: Letter
}

/** A balance of less than this, in cents, is low. */
const lowBalanceCents = 200

/** A spend from this share of a cap on raises an alarm. */
const share = 0.8

const dollars = (cents: number): string => `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toFixed(2)}`

export const isLow = ({ tally }: AccountState): boolean => tally.balanceCents < lowBalanceCents

/** All alarms that apply now, whether or not they were sent. A tenant without spend in this month gets none. */
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
