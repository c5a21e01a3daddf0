import * as CallIdentity from "../../../number/CallIdentity.ts"
import * as TrunkNumberPlan from "../../../number/TrunkNumberPlan.ts"
import * as Callers from "../../../../protocol/sip/message/header/Callers.ts"
import * as Diversion from "../../../../protocol/sip/message/header/Diversion.ts"
import * as Party from "../../../../protocol/sip/message/header/Party.ts"
import * as Passport from "../../../../protocol/sip/message/header/Passport.ts"
import { header, type SipRequest } from "../../../../protocol/sip/message/SipMessage.ts"

/** A text that may be dialled: digits, and the signs of a tech prefix. */
const dialled = /^\+?[0-9*#]{6,40}$/

/** The user of the Request-URI, then that of To, because a trunk may call our Contact. */
const usersOf = (invite: SipRequest): ReadonlyArray<string> =>
  [Party.userOf(invite.uri), Party.parse(header(invite, "To") ?? "")?.user ?? null].flatMap((user) => user ?? [])

/** The caller and the called party of an INVITE, in the words of its sender. */
export const of = (invite: SipRequest): CallIdentity.CallIdentity => ({
  called: usersOf(invite),
  ...Callers.of(invite),
  diversion: Diversion.of(invite),
  attested: Passport.of(invite)
})

/** The called number as it reads without a number plan: E.164, else as it came; null when it cannot be a number. */
export const called = (invite: SipRequest): string | null => {
  const users = usersOf(invite)
  const [number] = users.flatMap((user) => TrunkNumberPlan.called(TrunkNumberPlan.none, user).slice(0, 1))
  const digits = users.map((user) => user.replace(/[-. ()]/g, ""))
  return number ?? digits.find((user) => dialled.test(user)) ?? null
}

/** The caller as it reads without a number plan. */
export const caller = (invite: SipRequest): string => CallIdentity.caller(TrunkNumberPlan.none, of(invite)).from
