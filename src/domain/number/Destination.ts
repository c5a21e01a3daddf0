import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString
} from "libphonenumber-js/max"

/** The place of a number by the world's numbering plans (libphonenumber), guide/calls.md#dialing-permissions. */
interface Destination {
  /** ISO 3166 alpha-2, when the plan leaves no doubt; null otherwise. */
  readonly country: string | null
  /** Null when the number begins with no calling code that is in use. */
  readonly callingCode: string | null
  /** The countries that share the calling code. Without a certain country, the number may be in any of them. */
  readonly candidates: ReadonlyArray<string>
  readonly classes: ReadonlyArray<DestinationClass>
}

/**
 * Classes of numbers that are expensive or often abused. `satellite`: +870, +881, +882 and +883. `premium_rate` and
 * `shared_cost`: by their plan, and the international ranges +979 and +808. `unknown`: a number that is in no plan.
 */
export const classes = ["satellite", "premium_rate", "shared_cost", "unknown"] as const
type DestinationClass = (typeof classes)[number]

/** Calling codes (ITU-T E.164) that belong to no country, and the class of all their numbers. */
const byCode: Readonly<Record<string, DestinationClass>> = {
  "808": "shared_cost",
  "870": "satellite",
  "881": "satellite",
  "882": "satellite",
  "883": "satellite",
  "979": "premium_rate"
}

/** The countries of each calling code. Codes have one to three digits, and none begins another. */
const countries: ReadonlyMap<string, ReadonlyArray<string>> = getCountries().reduce((codes, country) => {
  const code = getCountryCallingCode(country)
  return codes.set(code, [...(codes.get(code) ?? []), country])
}, new Map<string, ReadonlyArray<string>>())

export const isCountry = (text: string): boolean => isSupportedCountry(text)

const longestCode = 3

const codeOf = (digits: string): string | null => {
  for (let length = 1; length <= longestCode; length++) {
    const code = digits.slice(0, length)
    if (countries.has(code) || byCode[code] !== undefined) return code
  }
  return null
}

/** `number` is E.164 with its `+`. */
export const of = (number: string): Destination => {
  const digits = number.slice(1)
  const callingCode = codeOf(digits)
  const candidates = countries.get(callingCode ?? "") ?? []
  const phone = parsePhoneNumberFromString(number)
  // The parser takes a national prefix off, and would then judge another number than the one that is dialled.
  const isValid = phone?.number === number && phone.isValid()
  const isCertain = isValid || candidates.length === 1
  const type = phone?.getType()
  const found = [
    byCode[digits.slice(0, longestCode)],
    type === "PREMIUM_RATE" ? "premium_rate" : type === "SHARED_COST" ? "shared_cost" : undefined,
    isValid ? undefined : "unknown"
  ]
  return {
    country: isCertain ? (phone?.country ?? candidates[0] ?? null) : null,
    callingCode,
    candidates,
    classes: classes.filter((each) => found.includes(each))
  }
}
