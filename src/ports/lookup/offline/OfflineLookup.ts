import { Effect, Layer } from "effect"
import { parsePhoneNumberFromString } from "libphonenumber-js/max"
import { type Found, type LineType, Lookup, lineTypes } from "../Lookup.ts"

/** Reads the published numbering plans, which have neither carriers nor subscribers nor portings. */
const find = (phoneNumber: string): Found => {
  const parsed = parsePhoneNumberFromString(phoneNumber)
  return {
    isValid: parsed?.number === phoneNumber && parsed.isValid(),
    nationalFormat: parsed?.formatNational() ?? null,
    countryCode: parsed?.country ?? null,
    carrier: {
      name: null,
      type: typeOf(parsed?.getType()?.toLowerCase()),
      mobileCountryCode: null,
      mobileNetworkCode: null
    },
    callerName: null,
    portability: { isPorted: null, portedAt: null, lrn: null, ocn: null, spidCarrierName: null }
  }
}

const typeOf = (name: string | undefined): LineType | null => lineTypes.find((type) => type === name) ?? null

/** Uses the numbering plans in a library: no request is sent. */
export const layer = Layer.succeed(Lookup, { find: (phoneNumber) => Effect.sync(() => find(phoneNumber)) })
