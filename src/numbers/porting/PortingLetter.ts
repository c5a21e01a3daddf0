import * as Timestamp from "../../domain/time/Timestamp.ts"
import type { Letter } from "../../ports/letter/Letter.ts"
import type * as PortingMachine from "./PortingMachine.ts"
import type { OrderRow } from "./PortingView.ts"

const named = ({ numbers }: OrderRow): string => {
  const [first, ...more] = numbers.map(({ phoneNumber }) => phoneNumber)
  return more.length === 0 ? `${first}` : `${first} and ${more.length} more`
}

/** The letter to the tenant when an order enters this state; null when the tenant knows it, or need not act. */
export const of = (row: OrderRow, before: PortingMachine.State, after: PortingMachine.State): Letter | null => {
  const say = (subject: string, ...paragraphs: ReadonlyArray<string>): Letter => ({
    subject,
    paragraphs: [...paragraphs, `The order is ${row.id}.`],
    link: null
  })
  switch (after.status) {
    case "exception":
      return say(
        `The move of ${named(row)} needs an answer`,
        "The carrier that has the numbers now refuses to move them:",
        ...after.details.map(({ code, description }) => `${description} (${code})`),
        "Change what is wrong and submit the order again within 14 days, or it is cancelled."
      )
    case "foc_confirmed":
      return after.focAt === null || after.focAt === before.focAt
        ? null
        : say(
            `${named(row)} will move on ${Timestamp.format(after.focAt).slice(0, 10)}`,
            `The carrier that has the numbers now has confirmed the date: ${Timestamp.format(after.focAt)}.`,
            "Keep the service there until then: a number that is cancelled there cannot be moved."
          )
    case "ported":
      return say(
        `${named(row)} has moved`,
        "The numbers are active here. You may end the service with the other carrier."
      )
    case "cancelled":
      return before.status === "draft"
        ? null
        : say(`The move of ${named(row)} was cancelled`, "The numbers stay where they are.")
    case "draft":
    case "submitted":
    case "cancel_pending":
      return null
  }
}
