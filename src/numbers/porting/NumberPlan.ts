import { parsePhoneNumberFromString } from "libphonenumber-js/max"
import type { OrderedNumber } from "./PortingView.ts"

const kinds: Readonly<Record<string, OrderedNumber["numberType"]>> = {
  FIXED_LINE: "local",
  FIXED_LINE_OR_MOBILE: "local",
  VOIP: "local",
  MOBILE: "mobile",
  TOLL_FREE: "toll_free",
  UAN: "national"
}

/**
 * Country and kind of a number by the world's numbering plans; null when no plan has exactly these digits. The parser
 * also takes a number with a national prefix after its calling code.
 */
export const of = (
  phoneNumber: string
): { readonly countryCode: string; readonly numberType: OrderedNumber["numberType"] | null } | null => {
  const phone = parsePhoneNumberFromString(phoneNumber)
  if (phone === undefined || phone.number !== phoneNumber || !phone.isValid() || phone.country === undefined)
    return null
  return { countryCode: phone.country, numberType: kinds[phone.getType() ?? ""] ?? null }
}
