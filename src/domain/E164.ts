import { getCountries, getCountryCallingCode, Metadata, parsePhoneNumberFromString } from "libphonenumber-js/max"
import { Schema } from "effect"

/** Phone numbers, guide/requests.md#phone-numbers. */

const pattern = /^\+[0-9]{6,15}$/u
const message = "must be E.164: +, a country code and a number of its numbering plan, 6 to 15 digits"

/** The international prefixes of a calling code's countries; null: those of a code that belongs to no country. */
const prefixesOf = (callingCode: string): RegExp | null => {
  const patterns = getCountries()
    .filter((country) => getCountryCallingCode(country) === callingCode)
    .map((country) => {
      const metadata = new Metadata()
      metadata.selectNumberingPlan(country)
      return metadata.numberingPlan?.IDDPrefix() ?? ""
    })
    .filter((each) => each !== "")
  return patterns.length === 0 ? null : new RegExp(`^(?:${patterns.join("|")})`, "u")
}

const internationalPrefixes = new Map<string, RegExp | null>()

/** Whether digits after a calling code begin with a prefix that an exchange reads as international. */
const beginsAnotherNumber = (callingCode: string, digits: string): boolean => {
  if (/^(?:00|011)/u.test(digits)) return true
  let prefixes = internationalPrefixes.get(callingCode)
  if (prefixes === undefined) internationalPrefixes.set(callingCode, (prefixes = prefixesOf(callingCode)))
  return prefixes?.test(digits) ?? false
}

/**
 * Whether a numbering plan has the calling code and the length. A number with a national prefix after the calling code
 * is none, nor is one that no plan has and that begins there with an international prefix: a trunk could read another
 * number in it.
 */
export const isE164 = (value: string): boolean => {
  const phone = pattern.test(value) ? parsePhoneNumberFromString(value) : undefined
  if (phone === undefined || phone.number !== value) return false
  if (phone.isValid()) return true
  return phone.isPossible() && !beginsAnotherNumber(phone.countryCallingCode, phone.nationalNumber)
}

/** A number that comes in: what is dialled, shown to a called party, ordered or put into the inventory. */
export const E164 = Schema.String.check(
  Schema.makeFilter((value) => isE164(value) || message),
  // The published document knows patterns alone, and takes annotations from the last check.
  Schema.isPattern(pattern, { message })
).annotate({
  description: "E.164: `+`, a country code and a number in a length of its numbering plan.",
  examples: ["+12025550100"]
})

/** Whether it has the form of E.164, as every number that is kept has. */
export const hasForm = (value: string): boolean => pattern.test(value)

/**
 * A number that is only looked for or read again: `+` and 6 to 15 digits. Earlier versions kept numbers of no numbering
 * plan, too.
 */
export const KeptE164 = Schema.String.check(
  Schema.isPattern(pattern, { message: "must be E.164: + followed by 6 to 15 digits" })
).annotate({ description: "E.164: `+` and 6 to 15 digits.", examples: ["+12025550100"] })
