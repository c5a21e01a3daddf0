import { describe, expect, it } from "@effect/vitest"
import * as CallIdentity from "../../../src/carrier/number/CallIdentity.ts"
import * as TrunkNumberPlan from "../../../src/carrier/number/TrunkNumberPlan.ts"

const identity = (more: Partial<CallIdentity.CallIdentity> = {}): CallIdentity.CallIdentity => ({
  called: ["0298765432"],
  from: { user: "0414674199", name: "Bob" },
  asserted: [],
  remote: [],
  isNumberWithheld: false,
  isNameWithheld: false,
  diversion: [],
  attested: null,
  ...more
})
const australia = { ...TrunkNumberPlan.none, country: "AU" }
const from = (plan: TrunkNumberPlan.TrunkNumberPlan, more: Partial<CallIdentity.CallIdentity>) =>
  CallIdentity.caller(plan, identity(more)).from
const facts = (plan: TrunkNumberPlan.TrunkNumberPlan, more: Partial<CallIdentity.CallIdentity>) =>
  CallIdentity.caller(plan, identity(more)).facts

describe("the caller of a trunk", () => {
  it("is read by the trunk's number plan, and as it came without one", () => {
    expect(from(TrunkNumberPlan.none, {})).toBe("0414674199")
    expect(from(australia, {})).toBe("+61414674199")
  })

  it("is the first header that has a number, in the order of the plan", () => {
    const all = {
      from: { user: "7123456", name: "" },
      asserted: [
        { user: "pbx", name: "" },
        { user: "+61298765432", name: "Sales" }
      ],
      remote: [{ user: "0412345678", name: "Ada" }]
    }
    // Seven digits are an account here, and no number of Russia.
    expect(from(TrunkNumberPlan.none, all)).toBe("+61298765432")
    expect(from({ ...australia, caller: "remote_party_id" }, all)).toBe("+61412345678")
    expect(from({ ...australia, caller: "remote_party_id" }, { ...all, remote: [] })).toBe("+61298765432")
    expect(from(australia, { ...all, from: { user: "0414674199", name: "" } })).toBe("+61414674199")
    const asserted = { ...australia, caller: "p_asserted_identity" as const }
    expect(from(asserted, { ...all, from: { user: "0414674199", name: "" } })).toBe("+61298765432")
  })

  it("is the user of From as it came where there is no number, without a plus that would be wrong", () => {
    expect(from(australia, { from: { user: "7123456", name: "" } })).toBe("7123456")
    expect(from(TrunkNumberPlan.none, { from: { user: "+0414674199", name: "" } })).toBe("0414674199")
    expect(from(australia, { from: { user: "bob", name: "" } })).toBe("bob")
    expect(from(australia, { from: { user: "b".repeat(500), name: "" } })).toHaveLength(128)
    expect(from(australia, { from: null })).toBe("anonymous")
  })

  it("has its name, from the header of its number first, unless that is only the number", () => {
    expect(facts(australia, {}).callerName).toBe("Bob")
    const asserted = { ...australia, caller: "p_asserted_identity" as const }
    expect(facts(asserted, { asserted: [{ user: "0298765432", name: "Sales" }] }).callerName).toBe("Sales")
    expect(facts(asserted, { asserted: [{ user: "0298765432", name: "" }] }).callerName).toBe("Bob")
    expect(facts(australia, { from: { user: "0414674199", name: "0414 674 199" } }).callerName).toBe(null)
    expect(facts(australia, { from: { user: "0414674199", name: " A\u0007\r\nB " } }).callerName).toBe("A B")
    expect(facts(australia, { from: { user: "0414674199", name: "n".repeat(300) } }).callerName).toHaveLength(128)
  })

  it("has neither number nor name where it withholds the number, and no name where it withholds that", () => {
    const withheld = { isNumberWithheld: true, isNameWithheld: true, asserted: [{ user: "0298765432", name: "Sales" }] }
    expect(CallIdentity.caller(australia, identity(withheld))).toMatchObject({
      from: "anonymous",
      facts: { callerName: null }
    })
    expect(CallIdentity.caller(australia, identity({ isNameWithheld: true }))).toMatchObject({
      from: "+61414674199",
      facts: { callerName: null }
    })
  })

  it("shows who diverted the call in the same form, and nobody who is withheld", () => {
    const diversion = [
      { user: "0298765432", reason: "user_busy" as const },
      { user: null, reason: "away" as const }
    ]
    expect(facts(australia, { diversion }).diversion).toEqual([
      { number: "+61298765432", reason: "user_busy" },
      { number: "anonymous", reason: "away" }
    ])
  })

  it("is attested only where the attestation is for its number, withheld or not", () => {
    const attested = { level: "A" as const, number: "61414674199" }
    expect(facts(australia, { attested }).attestation).toBe("A")
    expect(facts(australia, { attested, isNumberWithheld: true, isNameWithheld: true }).attestation).toBe("A")
    expect(facts(australia, { attested: { ...attested, number: "61414674198" } }).attestation).toBe(null)
  })
})

describe("the called number of a trunk", () => {
  it("is that of the Request-URI, else of To, by the plan", () => {
    expect(CallIdentity.called(australia, identity())[0]).toBe("+61298765432")
    expect(CallIdentity.called(TrunkNumberPlan.none, identity())).toEqual([])
    expect(CallIdentity.called(australia, identity({ called: ["s", "0298765432"] }))[0]).toBe("+61298765432")
    expect(CallIdentity.called(australia, identity({ called: ["s", "sales"] }))).toEqual([])
  })
})
