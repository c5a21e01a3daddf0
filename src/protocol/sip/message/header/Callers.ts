import * as Grammar from "../Grammar.ts"
import { header, headers, type SipMessage } from "../SipMessage.ts"
import * as Party from "./Party.ts"
import * as Privacy from "./Privacy.ts"

/** The calling party by each header that names it. None of them is more than its sender's word. */
interface Callers {
  /** Null when it cannot be read. */
  readonly from: Party.Party | null
  /** P-Asserted-Identity, RFC 3325. */
  readonly asserted: ReadonlyArray<Party.Party>
  /** Remote-Party-ID of the calling party, draft-ietf-sip-privacy-04. */
  readonly remote: ReadonlyArray<Party.Party>
  readonly isNumberWithheld: boolean
  readonly isNameWithheld: boolean
}

/** The most values of a header that are read. */
const most = 8

const named = (party: Party.Party): Party.Party => ({ user: party.user, name: party.name })

const partiesIn = (message: SipMessage, name: string) =>
  headers(message, name)
    .flatMap(Grammar.splitList)
    .slice(0, most)
    .flatMap((value) => Party.parse(value) ?? [])

export const of = (message: SipMessage): Callers => {
  const from = Party.parse(header(message, "From") ?? "")
  const remote = partiesIn(message, "Remote-Party-ID").filter(({ params }) => Privacy.isOfCaller(params))
  return {
    from: from === null ? null : named(from),
    asserted: partiesIn(message, "P-Asserted-Identity").map(named),
    remote: remote.map(named),
    isNumberWithheld: Privacy.withholdsNumber(message),
    isNameWithheld: Privacy.withholdsName(message)
  }
}
