import type { Letter } from "../../ports/letter/Letter.ts"
import type { Settings } from "./AccountMachine.ts"

type Standing = Pick<Settings, "status" | "suspensionReason">

const goesOn =
  "Running calls finish; no new ones are placed, and callers hear a busy signal. You can still see the account and its billing."

/** The letter to the owners when their workspace is suspended, reactivated or closed; null without a change. */
export const of = (before: Standing, after: Standing): Letter | null => {
  if (before.status === after.status) return null
  switch (after.status) {
    case "active":
      return {
        subject: "Your workspace works again",
        paragraphs: ["Hello,", "the suspension of your workspace is lifted: calls can be placed and received again."],
        link: null
      }
    case "closed":
      return {
        subject: "Your workspace is closed",
        paragraphs: ["Hello,", "your workspace is closed for good. Its keys and logins work no more."],
        link: null
      }
    case "suspended":
      return {
        subject: "Your workspace is suspended",
        paragraphs: ["Hello,", because(after.suspensionReason), goesOn],
        link: null
      }
  }
}

const because = (reason: Standing["suspensionReason"]): string =>
  reason === "email_unverified"
    ? "your workspace is suspended, because no owner has confirmed an e-mail address within seven days. Ask for a new link to confirm it, and it works again at once."
    : "your workspace is suspended by the operator of this service. Please get in touch with them."
