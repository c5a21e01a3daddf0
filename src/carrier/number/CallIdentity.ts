import { Schema } from "effect"
import * as CallerReport from "../../domain/caller/CallerReport.ts"
import * as CallerTerms from "../../domain/caller/CallerTerms.ts"
import * as TrunkNumberPlan from "./TrunkNumberPlan.ts"

/**
 * The caller and the called party, as a peer wrote them. The meaning of the digits depends on the number plan of the
 * trunk, which is known only when the called number has led to a tenant.
 */
const Party = Schema.Struct({
  /** Empty when there is none. */
  user: Schema.String,
  /** Empty when there is none. */
  name: Schema.String
})

const DiversionReason = Schema.Literals(CallerTerms.diversionReasons)
const AttestationLevel = Schema.Literals(CallerTerms.attestationLevels)

export const CallIdentity = Schema.Struct({
  /** The texts that may be the called number, the likeliest first. */
  called: Schema.Array(Schema.String),
  from: Schema.NullOr(Party),
  asserted: Schema.Array(Party),
  remote: Schema.Array(Party),
  isNumberWithheld: Schema.Boolean,
  isNameWithheld: Schema.Boolean,
  /** The last diversion first. `user` is null when it is withheld. */
  diversion: Schema.Array(Schema.Struct({ user: Schema.NullOr(Schema.String), reason: DiversionReason })),
  /** The level that a carrier signed for, and the number that it is given for. */
  attested: Schema.NullOr(Schema.Struct({ level: AttestationLevel, number: Schema.String }))
})
export type CallIdentity = typeof CallIdentity.Type

/** A caller of whom only its number and its name are known. */
export const named = (number: string, name: string): CallIdentity => ({
  called: [],
  from: { user: number, name },
  asserted: [],
  remote: [],
  isNumberWithheld: false,
  isNameWithheld: false,
  diversion: [],
  attested: null
})

/** The facts that a call shows of its caller besides the number. */
export const CallerFacts = Schema.Struct({
  callerName: Schema.NullOr(Schema.String),
  diversion: Schema.Array(Schema.Struct({ number: Schema.String, reason: DiversionReason })),
  attestation: Schema.NullOr(AttestationLevel)
})
export type CallerFacts = typeof CallerFacts.Type

/** Nothing is known of the caller but its number. */
export const nothing: CallerFacts = { callerName: null, diversion: [], attestation: null }

const longest = 128

/** The numbers that the peer may have called, the likeliest first: those of the first part that may be a number. */
export const called = (plan: TrunkNumberPlan.TrunkNumberPlan, identity: CallIdentity): ReadonlyArray<string> => {
  for (const user of identity.called) {
    const found = TrunkNumberPlan.called(plan, user)
    if (found.length > 0) return found
  }
  return []
}

const reported = (plan: TrunkNumberPlan.TrunkNumberPlan, user: string): string =>
  user === "" ? CallerReport.anonymous : TrunkNumberPlan.reported(plan, user).slice(0, longest)

const nameOf = (parties: ReadonlyArray<typeof Party.Type>): string | null => {
  for (const { name } of parties) {
    const shown = name
      .toWellFormed()
      .replace(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, longest)
    if (shown !== "") return shown
  }
  return null
}

interface Caller {
  /** E.164, or the digits or the user as they came, or `anonymous`. At most 128 characters. */
  readonly from: string
  readonly facts: CallerFacts
}

/**
 * How the caller is reported: by the first header that has a number, in the order of the plan, else by the user of
 * From. A withheld number is `anonymous`, whatever the trunk asserts, and has no name. An attestation counts only for
 * the number of the caller.
 */
export const caller = (plan: TrunkNumberPlan.TrunkNumberPlan, identity: CallIdentity): Caller => {
  const { asserted, from, remote } = identity
  const byHeader = { from: from === null ? [] : [from], p_asserted_identity: asserted, remote_party_id: remote }
  const order = [plan.caller, ...TrunkNumberPlan.callerHeaders.filter((header) => header !== plan.caller)]
  const parties = order.flatMap((header) => byHeader[header])
  const found = parties.find(({ user }) => TrunkNumberPlan.read(plan, user) !== null)
  const number = reported(plan, (found ?? from)?.user ?? "")
  const name = nameOf([...(found === undefined ? [] : [found]), ...parties])
  const { attested } = identity
  return {
    from: identity.isNumberWithheld ? CallerReport.anonymous : number,
    facts: {
      // Many exchanges write the number where the name belongs.
      callerName: identity.isNameWithheld || name === null || reported(plan, name) === number ? null : name,
      diversion: identity.diversion.map(({ reason, user }) => ({ number: reported(plan, user ?? ""), reason })),
      attestation: attested !== null && `+${attested.number}` === number ? attested.level : null
    }
  }
}
