import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Lookup } from "../../../src/ports/lookup/Lookup.ts"
import * as OfflineLookup from "../../../src/ports/lookup/offline/OfflineLookup.ts"

describe("numbering plans as the source of lookups (guide/numbers.md#lookup)", () => {
  it.effect.each([
    ["+12025550150", true, "US", "(202) 555-0150", "fixed_line_or_mobile"],
    ["+18005550111", true, "US", "(800) 555-0111", "toll_free"],
    ["+447400123456", true, "GB", "07400 123456", "mobile"],
    ["+442079460123", true, "GB", "020 7946 0123", "fixed_line"],
    ["+19002345678", true, "US", "(900) 234-5678", "premium_rate"],
    ["+11111111111", false, null, "1111111111", null],
    ["+999123456", false, null, null, null]
  ] as const)("of %s say that it is valid: %s, in %s, %s, %s", ([number, isValid, country, national, type]) =>
    Effect.gen(function* () {
      const found = yield* (yield* Lookup).find(number, "caller_name")
      expect(found).toEqual({
        isValid,
        countryCode: country,
        nationalFormat: national,
        carrier: { name: null, type, mobileCountryCode: null, mobileNetworkCode: null },
        callerName: null,
        portability: { isPorted: null, portedAt: null, lrn: null, ocn: null, spidCarrierName: null }
      })
    }).pipe(Effect.provide(OfflineLookup.layer))
  )
})
