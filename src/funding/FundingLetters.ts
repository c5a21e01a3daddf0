import type { Letter } from "../letter/Letter.ts"
import type { Attempt } from "./AttemptMachine.ts"
import type { DisabledReason } from "./AutoRechargeMachine.ts"

/** Letters about cards, in words. */

export const dollars = (cents: number): string =>
  `${cents < 0 ? "-" : ""}$${Math.trunc(Math.abs(cents) / 100)}.${String(Math.abs(cents) % 100).padStart(2, "0")}`

export const receipt = (attempt: Attempt, card: string, balanceCents: number): Letter => ({
  subject: `Receipt: ${dollars(attempt.amountCents)}`,
  paragraphs: [
    `${dollars(attempt.amountCents)} was charged to ${card}${attempt.kind === "auto_recharge" ? " by auto-recharge" : ""}.`,
    `Your balance is ${dollars(balanceCents)} now. The entry of your ledger is ${attempt.id}.`
  ],
  link: null
})

export const declined = (attempt: Attempt, card: string, message: string, nextTry: string | null): Letter => ({
  subject: `Auto-recharge of ${dollars(attempt.amountCents)} failed`,
  paragraphs: [
    `${card} was not charged: ${message}`,
    ...(nextTry === null ? [] : [`It is tried again after ${nextTry}.`]),
    "Calls are refused when the balance is used up. You can top up by hand, or with another card."
  ],
  link: null
})

const because: Readonly<Record<DisabledReason, string>> = {
  declined: "The card was declined four times.",
  authentication_required: "The card's bank wants its holder to confirm each payment, which nobody can do for you.",
  do_not_try_again: "The card's bank asks not to be asked again."
}

export const disabled = (card: string, reason: DisabledReason): Letter => ({
  subject: "Auto-recharge is disabled",
  paragraphs: [
    `${because[reason]} (${card})`,
    "Auto-recharge is off until you enable it again. Calls are refused when the balance is used up."
  ],
  link: null
})
