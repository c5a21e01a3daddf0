import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Machine from "../../../src/numbers/porting/PortingMachine.ts"
import type { EndUser } from "../../../src/numbers/porting/PortingView.ts"

const endUser: EndUser = {
  entityName: "Acme Inc.",
  authorizedPersonName: "Ada Lovelace",
  accountNumber: "A-1234",
  pinPasscode: null,
  billingPhoneNumber: null,
  address: {
    streetAddress: "1600 Market Street",
    extendedAddress: null,
    locality: "Philadelphia",
    administrativeArea: "PA",
    postalCode: "19103",
    countryCode: "US"
  }
}
const documents = [
  { type: "loa", status: "pending" },
  { type: "invoice", status: "verified" }
] as const
const submit: Machine.Input = { type: "submit", endUser, documents }
const now = 1_000_000

const after = (...inputs: ReadonlyArray<Machine.Input>): Machine.State =>
  inputs.reduce((state, input) => {
    const step = Machine.step(state, input, { now })
    if (step.type !== "accepted") throw new Error(`${input.type} in ${state.status} is ${step.type}`)
    return step.state
  }, Machine.draft)
const foc: Machine.Input = { type: "foc", at: now + 5, losingCarrier: "Other" }
const mismatch: Machine.Input = {
  type: "exception",
  endUser,
  details: [{ code: "account_number_mismatch", description: "another number" }]
}

/** One state of each status. */
const states = {
  draft: Machine.draft,
  submitted: after(submit),
  exception: after(submit, mismatch),
  foc_confirmed: after(submit, foc),
  ported: after(submit, foc, { type: "complete" }),
  cancel_pending: after(submit, foc, { type: "cancel" }),
  cancelled: after({ type: "cancel" })
} as const
type Status = keyof typeof states

/** The status to which each input leads from each status; `null` when it is refused. */
const table: Readonly<Record<string, readonly [Machine.Input, Readonly<Record<Status, Status | null>>]>> = {
  edit: [{ type: "edit", numbers: false }, row({ draft: "draft", exception: "exception" })],
  "edit of numbers": [{ type: "edit", numbers: true }, row({ draft: "draft" })],
  discard: [{ type: "discard" }, row({ draft: "draft" })],
  "add document": [
    { type: "add_document" },
    row({ draft: "draft", submitted: "submitted", exception: "exception", foc_confirmed: "foc_confirmed" })
  ],
  submit: [
    { type: "submit", endUser: { ...endUser, accountNumber: "B" }, documents },
    row({ draft: "submitted", exception: "submitted" })
  ],
  cancel: [
    { type: "cancel" },
    row({
      draft: "cancelled",
      exception: "cancelled",
      submitted: "cancel_pending",
      foc_confirmed: "cancel_pending"
    })
  ],
  exception: [mismatch, row({ submitted: "exception", foc_confirmed: "exception" })],
  foc: [foc, row({ submitted: "foc_confirmed", foc_confirmed: "foc_confirmed" })],
  complete: [{ type: "complete" }, row({ foc_confirmed: "ported", cancel_pending: "ported" })],
  "carrier cancelled": [
    { type: "carrier_cancelled" },
    row({ submitted: "cancelled", exception: "cancelled", foc_confirmed: "cancelled", cancel_pending: "cancelled" })
  ],
  "cancel refused": [{ type: "cancel_refused" }, row({ cancel_pending: "foc_confirmed" })]
}

function row(leads: Partial<Record<Status, Status>>): Readonly<Record<Status, Status | null>> {
  return {
    draft: null,
    submitted: null,
    exception: null,
    foc_confirmed: null,
    ported: null,
    cancel_pending: null,
    cancelled: null,
    ...leads
  }
}

describe("the states of a porting order (guide/porting.md#states)", () => {
  for (const [name, [input, leads]] of Object.entries(table))
    for (const [status, state] of Object.entries(states)) {
      const lead = leads[status as Status]
      it(`${name} in ${status} ${lead === null ? "is refused" : `leads to ${lead}`}`, () => {
        const step = Machine.step(state, input, { now })
        if (lead === null) expect(step).toMatchObject({ type: "rejected", error: { code: "conflict" } })
        else expect(step).toMatchObject({ type: "accepted", state: { status: lead } })
      })
    }

  it("a submission needs the end user and both documents, in that order", () => {
    const refusal = (input: Machine.Input) => Machine.step(Machine.draft, input, { now })
    expect(refusal({ ...submit, endUser: { ...endUser, accountNumber: null }, documents: [] })).toMatchObject({
      error: { code: "unprocessable", param: "end_user.account_number" }
    })
    expect(refusal({ ...submit, documents: [] })).toMatchObject({ error: { code: "documents_required" } })
    expect(refusal({ ...submit, documents: [documents[0], { type: "invoice", status: "rejected" }] })).toMatchObject({
      error: { code: "documents_required", message: expect.stringContaining("invoice") }
    })
  })

  it("what the losing carrier disputes has to change before the next submission", () => {
    expect(Machine.step(states.exception, submit, { now })).toMatchObject({
      type: "rejected",
      error: { code: "csr_mismatch", param: "end_user.account_number" }
    })
    const other: Machine.Input = {
      type: "exception",
      endUser,
      details: [{ code: "number_inactive", description: "not in service" }]
    }
    expect(Machine.step(after(submit, other), submit, { now })).toMatchObject({ type: "accepted" })
  })

  it("an exception that nobody answers is cancelled after 14 days and not before", () => {
    const at = (later: number) => Machine.step(states.exception, { type: "unanswered" }, { now: now + later })
    expect(at(Machine.answerMs - 1)).toEqual({ type: "unchanged" })
    expect(at(Machine.answerMs)).toMatchObject({ type: "accepted", state: { status: "cancelled" } })
    expect(Machine.step(states.submitted, { type: "unanswered" }, { now: now + 1e12 })).toEqual({ type: "unchanged" })
  })

  it.prop(
    "numbers are claimed from the first submission to the end, and nothing leads out of an end",
    [Schema.Array(Schema.Literals(Object.keys(table) as [string, ...Array<string>])).check(Schema.isMaxLength(12))],
    ([names]) => {
      let state: Machine.State = Machine.draft
      let wasClaimed = false
      for (const name of names) {
        const input = table[name]?.[0]
        if (input === undefined) continue
        const step = Machine.step(state, input, { now })
        if (Machine.isOver(state) && step.type === "accepted") return false
        if (step.type !== "accepted") continue
        if (wasClaimed && step.state.status === "draft") return false
        state = step.state
        wasClaimed = Machine.claims(state)
        if ((state.status === "ported") !== (state.portedAt !== null)) return false
        if ((state.status === "cancelled") !== (state.cancelledAt !== null)) return false
        if (state.status === "cancel_pending" && state.beforeCancel === null) return false
      }
      return true
    }
  )
})
