import type { Letter } from "../../ports/letter/Letter.ts"
import type { Attempt } from "./charge/AttemptMachine.ts"
import type { DisabledReason } from "./recharge/AutoRechargeMachine.ts"

const dollars = (cents: number): string =>
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

/** The movements of money by a refund or a dispute. */
export type Moved = "refunded" | "refund_failed" | "disputed" | "dispute_won"

const moved: Readonly<Record<Moved, (amount: string) => readonly [subject: string, said: string]>> = {
  refunded: (amount) => [
    `Refund: ${amount}`,
    `${amount} of a payment goes back to your card. Banks take some days for it.`
  ],
  refund_failed: (amount) => [
    `A refund of ${amount} came back`,
    `The bank of your card did not take a refund of ${amount}. It stands on your balance again.`
  ],
  disputed: (amount) => [
    `A payment of ${amount} is disputed`,
    `The holder of the card disputes a payment of ${amount}. It was taken off your balance until that is decided.`
  ],
  dispute_won: (amount) => [
    `The dispute of ${amount} is over`,
    `The dispute of a payment of ${amount} was decided in favor of the payment. It stands on your balance again.`
  ]
}

/** `attemptId` is that of the top-up concerned. */
export const reversed = (kind: Moved, cents: number, attemptId: string, balanceCents: number): Letter => {
  const [subject, said] = moved[kind](dollars(Math.abs(cents)))
  return {
    subject,
    paragraphs: [said, `Your balance is ${dollars(balanceCents)} now. The top-up in your ledger is ${attemptId}.`],
    link: null
  }
}

const because: Readonly<Record<DisabledReason, string>> = {
  declined: "The card was declined four times.",
  authentication_required: "The card's bank wants its holder to confirm each payment, which nobody can do for you.",
  do_not_try_again: "The card's bank asks not to be asked again.",
  card_gone: "The card processor does not have the card any more. Save it again."
}

export const disabled = (card: string, reason: DisabledReason): Letter => ({
  subject: "Auto-recharge is disabled",
  paragraphs: [
    `${because[reason]} (${card})`,
    "Auto-recharge is off until you enable it again. Calls are refused when the balance is used up."
  ],
  link: null
})
