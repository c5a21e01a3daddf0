/**
 * How a trunk writes numbers: the forms that it is sent, and what the digits that it sends mean. Inside the service
 * every number is E.164 with its `+`; only this module converts.
 *
 * A number that a numbering plan has, and that goes out in a form of a trunk's plan, comes back by it as the same
 * number. Digits that are no number
 * of any numbering plan are never given a `+`: they are an account, an extension, or a number that lacks its country.
 */
import {
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  type NumberingPlan,
  parsePhoneNumberFromString
} from "libphonenumber-js/max"
import { Schema } from "effect"
import { hasForm, isE164 } from "../../domain/E164.ts"
import * as SipUri from "../../protocol/sip/message/header/SipUri.ts"

/** The headers that may name the caller, in the order in which they are asked where the plan names none of them. */
export const callerHeaders = ["from", "p_asserted_identity", "remote_party_id"] as const

/**
 * `e164`: digits alone; `plus`: `+` and digits; `national`: national prefix and national number within the country's
 * calling code, else as `00`; `00`: international prefix and digits.
 */
export const forms = ["e164", "plus", "national", "00"] as const

const Country = Schema.String.check(
  Schema.makeFilter((country) => isSupportedCountry(country) || "must be a country, ISO 3166 alpha-2 (AU)")
)
const Prefix = Schema.String.check(Schema.isPattern(/^[0-9]{0,7}$/u, { message: "must be up to 7 digits" }))
const TechPrefix = Schema.String.check(
  Schema.isPattern(/^[0-9*#]{1,15}$/u, { message: "must be 1 to 15 of 0-9, * and #" })
)
const User = Schema.String.check(
  Schema.isPattern(/^[\w\-.!~*'()&=+$,;?/]{1,64}$/u, { message: "must be 1 to 64 characters of a SIP user" })
)
const Domain = Schema.String.check(
  Schema.isPattern(
    /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/u,
    {
      message: "must be a host name or an IPv4 address"
    }
  )
)

const OrNull = Schema.NullOr

export const TrunkNumberPlan = Schema.Struct({
  /** Whose national form the trunk uses, ISO 3166 alpha-2; null: it uses none. */
  country: OrNull(Country),
  /** The digits before a national number; empty: none; null: those of the country. */
  nationalPrefix: OrNull(Prefix),
  /** The digits before an international number in place of the `+`; null: those of the country, else `00`. */
  internationalPrefix: OrNull(Prefix.check(Schema.isMinLength(1))),
  /** Precedes every called number that is sent, and is taken off a called number that has it; null: none. */
  techPrefix: OrNull(TechPrefix),
  sends: Schema.Literals(forms),
  /** The header that is asked first for the caller's number. */
  caller: Schema.Literals(callerHeaders),
  /** The user of our From in place of the calling number; null: the number. */
  fromUser: OrNull(User),
  /** The user of our P-Asserted-Identity in place of the calling number; null: the number. */
  assertedUser: OrNull(User),
  /** The domain of our From and P-Asserted-Identity; null: our address towards the trunk. */
  fromDomain: OrNull(Domain)
})
export type TrunkNumberPlan = typeof TrunkNumberPlan.Type

/** The plan of a trunk for which the operator set none. */
export const none: TrunkNumberPlan = {
  country: null,
  nationalPrefix: null,
  internationalPrefix: null,
  techPrefix: null,
  sends: "plus",
  caller: "from",
  fromUser: null,
  assertedUser: null,
  fromDomain: null
}

/** Why the fields do not fit together; null when they do. */
export const faultOf = (plan: TrunkNumberPlan): string | null => {
  if (plan.country !== null) return null
  if (plan.sends === "national") return "the national form needs a country"
  return plan.nationalPrefix === null ? null : "a national prefix needs a country"
}

interface Prefixes {
  /** Null without a country. */
  readonly callingCode: string | null
  readonly national: string
  readonly international: string
}

/**
 * The metadata has national prefixes, which its types do not mention. For a prefix that a country lacks it has any
 * value but a text.
 */
type Prefixed = NumberingPlan & { readonly nationalPrefix: () => unknown }

/** The digits of a prefix, in which `~` is a pause; null for a pattern or none. */
const digitsAlone = (prefix: unknown): string | null => {
  const digits = typeof prefix === "string" ? prefix.replaceAll("~", "") : ""
  return /^[0-9]+$/.test(digits) ? digits : null
}

export const prefixesOf = ({ country, internationalPrefix, nationalPrefix }: TrunkNumberPlan): Prefixes => {
  if (country === null || !isSupportedCountry(country))
    return { callingCode: null, national: "", international: internationalPrefix ?? "00" }
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  const world = metadata.numberingPlan as Prefixed | undefined
  return {
    callingCode: getCountryCallingCode(country),
    national: nationalPrefix ?? digitsAlone(world?.nationalPrefix()) ?? "",
    // Where a country has several carriers' prefixes, the metadata has a pattern, and one preferred prefix at most.
    international:
      internationalPrefix ?? digitsAlone(world?.defaultIDDPrefix()) ?? digitsAlone(world?.IDDPrefix()) ?? "00"
  }
}

/** A numbering plan has exactly these digits. */
const isValid = (e164: string): boolean => {
  const phone = hasForm(e164) ? parsePhoneNumberFromString(e164) : undefined
  return phone !== undefined && phone.isValid() && phone.number === e164
}

/** Without the visual separators of RFC 3966 section 5.1.1. */
const bare = (text: string): string => text.replace(/[-. ()]/g, "")

/** The E.164 numbers that the digits may be in the plan's country: without the national prefix, or as they are. */
const withinCountry = ({ callingCode, national }: Prefixes, digits: string): ReadonlyArray<string> =>
  callingCode === null
    ? []
    : [
        ...(national !== "" && digits.startsWith(national) ? [`+${callingCode}${digits.slice(national.length)}`] : []),
        `+${callingCode}${digits}`
      ]

/** The numbers that the digits may be after an international prefix, the plan's or `00`. */
const afterPrefix = ({ international }: Prefixes, digits: string): ReadonlyArray<string> =>
  [...new Set([international, "00"])].flatMap((prefix) =>
    digits.startsWith(prefix) ? [`+${digits.slice(prefix.length)}`] : []
  )

const startsWell = (text: string): boolean => hasForm(text) && !text.startsWith("+0")

/**
 * The number that a trunk means by what it writes in a header; null when it is none. What has a `+` or an international
 * prefix counts when its length fits a numbering plan. Digits alone count only when a numbering plan has them, because
 * nothing else distinguishes them from an account or an extension.
 */
export const read = (plan: TrunkNumberPlan, text: string): string | null => {
  const [, plus, digits] = /^(\+?)([0-9]+)$/.exec(bare(text)) ?? []
  if (plus === undefined || digits === undefined) return null
  const prefixes = prefixesOf(plan)
  const national = () => withinCountry(prefixes, digits).find(isValid) ?? null
  const global = `+${digits}`
  // Some exchanges put a + before every number, a national one too.
  if (plus === "+") return isE164(global) ? global : national()
  if (plan.sends === "e164" && isValid(global)) return global
  return afterPrefix(prefixes, digits).find(isE164) ?? national() ?? (isValid(global) ? global : null)
}

/** How a caller is reported: E.164, or the digits as they came, without a `+` that would be wrong. */
export const reported = (plan: TrunkNumberPlan, text: string): string => {
  const number = read(plan, text)
  if (number !== null) return number
  const digits = bare(text)
  return /^\+?[0-9]+$/.test(digits) ? digits.replace("+", "") : text
}

/**
 * The numbers that a trunk may mean by a called number, the likeliest first. Unlike a caller, a called number is looked
 * up, so numbers that no numbering plan has yet are among them. At most twelve.
 */
export const called = (plan: TrunkNumberPlan, text: string): ReadonlyArray<string> => {
  const written = bare(text)
  const { techPrefix } = plan
  const all =
    techPrefix !== null && written.startsWith(techPrefix) ? [written.slice(techPrefix.length), written] : [written]
  const prefixes = prefixesOf(plan)
  const found = all.flatMap((each) => {
    const [, plus, digits] = /^(\+?)([0-9]+)$/.exec(each) ?? []
    if (plus === undefined || digits === undefined) return []
    const likeliest = read(plan, each)
    const looser =
      plus === "+" || plan.sends === "e164"
        ? [`+${digits}`, ...afterPrefix(prefixes, digits), ...withinCountry(prefixes, digits)]
        : [...afterPrefix(prefixes, digits), ...withinCountry(prefixes, digits), `+${digits}`]
    return [...(likeliest === null ? [] : [likeliest]), ...looser.filter(startsWell)]
  })
  return [...new Set(found)]
}

/**
 * The digits of an E.164 number in the plan's form. Where the trunk could read another number in that form, they follow
 * an international prefix. Anything else stays as it is.
 */
const written = (plan: TrunkNumberPlan, number: string): string => {
  if (!isE164(number)) return number
  const isRead = (own: string) => called({ ...plan, techPrefix: null }, own)[0] === number
  const digits = number.slice(1)
  const prefixes = prefixesOf(plan)
  const international = `${prefixes.international}${digits}`
  switch (plan.sends) {
    case "e164":
      return isRead(digits) ? digits : international
    case "plus":
      return number
    case "00":
      return international
    case "national": {
      const { callingCode, national } = prefixes
      if (callingCode === null || !digits.startsWith(callingCode)) return international
      const own = `${national}${digits.slice(callingCode.length)}`
      return isRead(own) ? own : international
    }
  }
}

/** The users of the URIs of an INVITE to this trunk, and the domain of our address of record. */
interface Sent {
  /** The user of the Request-URI and To. */
  readonly called: string
  /** Our number in the trunk's form, for Contact. */
  readonly caller: string
  readonly from: string
  readonly asserted: string
  /** Null: our address towards the trunk. */
  readonly domain: string | null
}

export const sent = (plan: TrunkNumberPlan, numbers: { readonly from: string; readonly to: string }): Sent => {
  const caller = written(plan, numbers.from)
  return {
    called: `${plan.techPrefix ?? ""}${written(plan, numbers.to)}`,
    caller,
    from: plan.fromUser ?? caller,
    asserted: plan.assertedUser ?? caller,
    domain: plan.fromDomain
  }
}

/** The SIP URI of a user of `sent`, with the escapes that `#` needs, at this host and port. */
export const uri = (user: string, at: string): string => `sip:${SipUri.escapedUser(user)}@${at}`
