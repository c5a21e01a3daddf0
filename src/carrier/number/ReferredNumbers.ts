/**
 * The telephone numbers that a far end may dial when it is asked to call a SIP URI, RFC 3261 section 19.1.6. A trunk
 * that is referred to one dials it at the operator's expense.
 */
import { type CountryCode, getCountries, Metadata } from "libphonenumber-js/max"
import { Result } from "effect"
import { isE164 } from "../../domain/E164.ts"
import * as SipUri from "../../protocol/sip/message/header/SipUri.ts"
import * as TrunkNumberPlan from "./TrunkNumberPlan.ts"

const prefixOf = (country: CountryCode): string => {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  return metadata.numberingPlan?.IDDPrefix() ?? ""
}

const known = new Map<CountryCode | null, ReadonlyArray<RegExp>>()

/**
 * The international prefixes of a country, or of all countries where the trunk names none. The prefix of some is a
 * single 0, with which the national numbers of many others begin.
 */
const internationalPrefixes = (country: CountryCode | null): ReadonlyArray<RegExp> => {
  const before = known.get(country)
  if (before !== undefined) return before
  const patterns = country === null ? getCountries().map(prefixOf) : [prefixOf(country)]
  const prefixes = [...new Set([...patterns, "00", "011"])]
    .filter((pattern) => pattern !== "")
    .map((pattern) => new RegExp(`^(?:${pattern})`, "u"))
  known.set(country, prefixes)
  return prefixes
}

const afterPrefix = (digits: string, country: CountryCode | null): ReadonlyArray<string> =>
  internationalPrefixes(country).flatMap((prefix) => {
    const [found] = prefix.exec(digits) ?? []
    return found === undefined ? [] : [`+${digits.slice(found.length)}`]
  })

const contextOf = (params: ReadonlyArray<string>): string =>
  params.flatMap((param) => /^phone-context=(\+[0-9]+)$/iu.exec(param)?.[1] ?? []).join("")

/**
 * The digits that an exchange may take from a user: without visual separators and pauses, up to the first other
 * character; then also those after each service code (`*31#`).
 */
const dialledIn = (text: string): ReadonlyArray<string> => {
  const [run = ""] = /^[+0-9*#\-. ()~]*/u.exec(text) ?? []
  const dialled = run.replaceAll(/[-. ()~]/gu, "")
  return [dialled, dialled.replace(/^.*[*#]/u, "")]
}

/** E.164 numbers, each once. `address` is a SIP URI; none for one whose user is no number. */
export const of = (plan: TrunkNumberPlan.TrunkNumberPlan, address: string): ReadonlyArray<string> => {
  const uri = SipUri.parseSipUri(address)
  if (Result.isFailure(uri) || uri.success.user === null) return []
  const [text = "", ...params] = SipUri.decoded(uri.success.user).split(";")
  const context = contextOf(params)
  const found = dialledIn(text).flatMap((dialled) => {
    if (isE164(dialled)) return [dialled]
    const digits = dialled.replace("+", "")
    return [
      ...(context === "" ? [] : [`${context}${digits}`]),
      ...TrunkNumberPlan.called(plan, dialled),
      ...afterPrefix(digits, plan.country as CountryCode | null)
    ]
  })
  return [...new Set(found)].filter(isE164)
}
