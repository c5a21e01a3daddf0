import { Result } from "effect"
import { diversionReasons } from "../../../../domain/caller/CallerTerms.ts"
import * as Grammar from "../Grammar.ts"
import { headers, type SipMessage } from "../SipMessage.ts"
import * as Params from "./Params.ts"
import * as Party from "./Party.ts"
import * as Privacy from "./Privacy.ts"
import * as SipUri from "./SipUri.ts"

type DiversionReason = (typeof diversionReasons)[number]

interface Diversion {
  /** The party from which the call was diverted, as it was written; null when it is withheld. */
  readonly user: string | null
  readonly reason: DiversionReason
}

/** The most diversions that are read, the last ones. */
const most = 10

/** The most entries of History-Info that are read, the last ones. */
const mostEntries = 64

/**
 * The diversions of a call before it came to us, the last one first: by Diversion (RFC 5806), else by History-Info (RFC
 * 7044). A network that sends both says the same in both.
 */
export const of = (message: SipMessage): ReadonlyArray<Diversion> => {
  const isWithheld = Privacy.withholdsHistory(message)
  const found = diverted(message)
  return (found.length === 0 ? retargeted(message) : found)
    .slice(0, most)
    .map(({ reason, user }) => ({ reason, user: isWithheld ? null : user }))
}

const known: ReadonlySet<string> = new Set(diversionReasons)
const isReason = (word: string): word is DiversionReason => known.has(word)

const diverted = (message: SipMessage): ReadonlyArray<Diversion> =>
  headers(message, "Diversion")
    .flatMap(Grammar.splitList)
    .flatMap((value): ReadonlyArray<Diversion> => {
      const party = Party.parse(value)
      if (party === null) return []
      const word = (Params.get(party.params, "reason") ?? "").toLowerCase().replaceAll("-", "_")
      return [
        {
          user: Privacy.hidesPart(party.params, "uri") ? null : party.user,
          reason: isReason(word) ? word : "unknown"
        }
      ]
    })

/** The reasons that statuses mean, RFC 4458 section 2 and RFC 7544 section 4. */
const byCause: Readonly<Record<string, DiversionReason>> = {
  "302": "unconditional",
  "408": "no_answer",
  "480": "deflection",
  "486": "user_busy",
  "487": "deflection",
  "503": "unavailable"
}

interface Entry {
  readonly user: string
  readonly isWithheld: boolean
  /** Why the call came to this target; null when its URI does not say. */
  readonly cause: string | null
  /** It is another party than the target before it. */
  readonly isMapped: boolean
  /** The status with which this target failed; null when it does not say. */
  readonly failure: string | null
}

/** An entry of History-Info is a target of the call. A target that is followed by another party has diverted it. */
const retargeted = (message: SipMessage): ReadonlyArray<Diversion> => {
  const entries = headers(message, "History-Info").flatMap(Grammar.splitList).slice(-mostEntries).flatMap(entryOf)
  return entries
    .flatMap((entry, index): ReadonlyArray<Diversion> => {
      const next = entries[index + 1]
      if (next === undefined) return []
      const cause = next.cause ?? entry.failure
      if (cause === null && !next.isMapped) return []
      return [{ user: entry.isWithheld ? null : entry.user, reason: byCause[cause ?? ""] ?? "unknown" }]
    })
    .toReversed()
}

const entryOf = (value: string): ReadonlyArray<Entry> => {
  const party = Party.parse(value)
  if (party === null) return []
  const uri = Result.getOrNull(SipUri.parse(party.uri))
  const within = (name: string): ReadonlyArray<string> =>
    uri?.type === "sip"
      ? uri.headers.filter(([key]) => key.toLowerCase() === name).map(([, text]) => SipUri.decoded(text))
      : []
  return [
    {
      user: party.user,
      isWithheld: within("privacy").some(Privacy.hidesEntry),
      cause: uri === null || uri.type === "other" ? null : SipUri.param(uri, "cause"),
      isMapped: Params.has(party.params, "mp"),
      failure:
        within("reason").map((reason) => /^\s*SIP\s*;.*\bcause\s*=\s*([0-9]{3})\b/i.exec(reason)?.[1] ?? null)[0] ??
        null
    }
  ]
}
