import { type Decline, type IntentStatus, unknownDecline } from "../Payments.ts"

/** One of Stripe's test cards, by its name, and its behaviour here. */
export interface TestCard {
  readonly name: string
  readonly brand: string
  readonly last4: string
  /** Stripe does not let such a card be saved. */
  readonly refusesAttach: boolean
  /** Null: the card is charged. */
  readonly decline: Decline | null
}

const charging = (name: string, brand: string, last4: string): TestCard => ({
  name,
  brand,
  last4,
  refusesAttach: false,
  decline: null
})

const declining = (name: string, last4: string, code: string, message: string): TestCard => ({
  name,
  brand: "visa",
  last4,
  refusesAttach: true,
  decline: { ...unknownDecline, code, message }
})

const cards: ReadonlyArray<TestCard> = [
  charging("pm_card_visa", "visa", "4242"),
  charging("pm_card_visa_debit", "visa", "5556"),
  charging("pm_card_mastercard", "mastercard", "4444"),
  charging("pm_card_mastercard_debit", "mastercard", "3222"),
  charging("pm_card_amex", "amex", "8431"),
  charging("pm_card_discover", "discover", "9424"),
  charging("pm_card_diners", "diners", "0505"),
  charging("pm_card_jcb", "jcb", "0505"),
  charging("pm_card_unionpay", "unionpay", "0005"),
  declining("pm_card_chargeDeclined", "0002", "generic_decline", "Your card was declined."),
  declining("pm_card_visa_chargeDeclined", "0002", "generic_decline", "Your card was declined."),
  declining(
    "pm_card_visa_chargeDeclinedInsufficientFunds",
    "9995",
    "insufficient_funds",
    "Your card has insufficient funds."
  ),
  declining("pm_card_visa_chargeDeclinedLostCard", "9987", "lost_card", "Your card was declined."),
  declining("pm_card_visa_chargeDeclinedStolenCard", "9979", "stolen_card", "Your card was declined."),
  declining("pm_card_chargeDeclinedExpiredCard", "0069", "expired_card", "Your card has expired."),
  declining("pm_card_chargeDeclinedIncorrectCvc", "0127", "incorrect_cvc", "Your card's security code is incorrect."),
  declining("pm_card_chargeDeclinedProcessingError", "0119", "processing_error", "An error occurred while processing."),
  {
    ...declining("pm_card_chargeCustomerFail", "0341", "generic_decline", "Your card was declined."),
    refusesAttach: false
  },
  {
    ...declining(
      "pm_card_authenticationRequired",
      "3184",
      "authentication_required",
      "Your card was declined. This transaction requires authentication."
    ),
    refusesAttach: false,
    decline: {
      code: "authentication_required",
      message: "Your card was declined. This transaction requires authentication.",
      needsAuthentication: true,
      isFinal: false
    }
  }
]

export const hint = `this service charges no cards; it knows the test cards ${cards.map(({ name }) => name).join(", ")}`

/** Finds a card by its name, or by the id that it got when it was saved. */
export const byId = (id: string): TestCard | null => {
  const name = id.replace(/_dev_[0-9a-f]{16}$/, "")
  return cards.find((card) => card.name === name) ?? null
}

/** The outcome of a charge. The holder of a card that needs authentication can be asked when present. */
export const charged = (
  { decline }: TestCard,
  isOffSession: boolean
): { readonly status: IntentStatus; readonly decline: Decline | null } =>
  decline === null
    ? { status: "succeeded", decline: null }
    : decline.needsAuthentication && !isOffSession
      ? { status: "requires_action", decline: null }
      : { status: "declined", decline }
