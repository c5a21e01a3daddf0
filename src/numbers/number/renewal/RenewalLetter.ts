import type { Letter } from "../../../ports/letter/Letter.ts"
import type * as NumberLife from "../NumberLife.ts"
import type { NumberRow } from "../NumberView.ts"

/** The most numbers that a letter names. */
const named = 20

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`

/** The letter to the owner of these numbers when a month of them is not paid, guide/numbers.md#renewals. */
export const of = (letter: NumberLife.Letter, numbers: ReadonlyArray<NumberRow>): Letter => {
  const what = numbers.length === 1 ? "a phone number" : `${numbers.length} phone numbers`
  const them = numbers.length === 1 ? "it" : "them"
  const cents = numbers.reduce((sum, number) => sum + number.monthlyCostCents, 0)
  const list = [
    ...numbers
      .slice(0, named)
      .map(({ monthlyCostCents, phoneNumber }) => `${phoneNumber} (${dollars(monthlyCostCents)})`),
    ...(numbers.length > named ? [`and ${numbers.length - named} more`] : [])
  ].join(", ")
  switch (letter) {
    case "due":
      return {
        subject: `The month of ${what} is not paid`,
        paragraphs: [
          `Your balance does not cover the new month of ${what}: ${list}, ${dollars(cents)} together.`,
          `Top up your balance, and ${numbers.length === 1 ? "it is" : "they are"} renewed at once. A number that is not paid rests seven days after it was due, and is released 30 days after.`
        ],
        link: null
      }
    case "suspended":
      return {
        subject: `${what === "a phone number" ? "A phone number rests" : `${numbers.length} phone numbers rest`}: the month is not paid`,
        paragraphs: [
          `Nobody can call ${them} and no calls can be placed from ${them} any more: ${list}.`,
          `Top up your balance by ${dollars(cents)}, beside what you owe for numbers that you no longer have, and all works again at once. Without a payment ${numbers.length === 1 ? "it is" : "they are"} released in 23 days.`
        ],
        link: null
      }
    case "released":
      return {
        subject: `${what === "a phone number" ? "A phone number was" : `${numbers.length} phone numbers were`} released`,
        paragraphs: [
          `Nobody has paid for ${them} for 30 days: ${list}.`,
          `The month that was not paid is still owed, and is taken from your balance when it covers the month. For 14 days you, and nobody else, may order ${them} again.`
        ],
        link: null
      }
  }
}
