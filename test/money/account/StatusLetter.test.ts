import { describe, expect, it } from "@effect/vitest"
import * as StatusLetter from "../../../src/money/account/StatusLetter.ts"

const active = { status: "active", suspensionReason: null } as const
const closed = { status: "closed", suspensionReason: null } as const
const suspended = (suspensionReason: "email_unverified" | "operator" | "fraud_review") =>
  ({ status: "suspended", suspensionReason }) as const

describe("what owners are told of the status of their workspace (guide/tenants.md#suspension)", () => {
  it.each([
    ["it is suspended by the operator", active, suspended("operator"), "is suspended", /by the operator/],
    // The letter does not reveal a fraud review to the tenant.
    ["it is suspended for a fraud review", active, suspended("fraud_review"), "is suspended", /by the operator/],
    ["nobody has verified", active, suspended("email_unverified"), "is suspended", /no owner has confirmed an e-mail/],
    ["the suspension is lifted", suspended("operator"), active, "works again", /placed and received again/],
    ["it is closed", active, closed, "is closed", /closed for good/],
    ["it is closed while it is suspended", suspended("fraud_review"), closed, "is closed", /closed for good/]
  ] as const)("%s", (_, before, after, subject, text) => {
    const letter = StatusLetter.of(before, after)
    expect(letter?.subject).toBe(`Your workspace ${subject}`)
    expect(letter?.paragraphs.join("\n")).toMatch(text)
    expect(letter?.link).toBeNull()
    // Only the letter of a suspension explains which operations continue.
    expect(letter?.paragraphs.join("\n").includes("Running calls finish")).toBe(after.status === "suspended")
  })

  it("says nothing where the status stays as it is, also for another reason", () => {
    expect(StatusLetter.of(active, active)).toBeNull()
    expect(StatusLetter.of(suspended("email_unverified"), suspended("operator"))).toBeNull()
  })
})
