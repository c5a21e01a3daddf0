import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Secret from "../../../src/domain/schema/Secret.ts"
import * as Wire from "../../../src/domain/schema/Wire.ts"

const Inner = Schema.Union([
  Schema.Struct({ type: Schema.tag("sent"), code: Secret.digits(Schema.String), note: Schema.String }),
  Schema.Struct({ type: Schema.tag("said"), code: Schema.String })
])
const Whole = Schema.Struct({
  items: Schema.Array(Inner),
  last: Schema.NullOr(Schema.Struct({ inner: Inner })),
  target: Schema.NullOr(Secret.url(Schema.String)),
  open: Schema.Json
})
const places = Secret.places(Whole)
const hide: Secret.By = (value, kind) => `${kind} of ${typeof value}`

describe("Secret fields", () => {
  it("are found by the schema, at every depth, in the member of a union that has them", () =>
    expect(
      places(
        {
          items: [
            { type: "sent", code: "1", note: "n" },
            { type: "said", code: "2" }
          ],
          last: { inner: { type: "sent", code: "3", note: "n" } },
          target: "https://example.com/",
          open: { type: "sent", code: "4" }
        },
        hide
      )
    ).toStrictEqual({
      items: [
        { type: "sent", code: "digits of string", note: "n" },
        { type: "said", code: "2" }
      ],
      last: { inner: { type: "sent", code: "digits of string", note: "n" } },
      target: "url of string",
      open: { type: "sent", code: "4" }
    }))

  it("leave a value without any as it is", () => {
    const value = { items: [{ type: "said", code: "2" }], last: null, target: null, open: null }
    expect(places(value, hide)).toBe(value)
  })

  it("are found under their names on the wire too", () => {
    const schema = Wire.struct({ lastCode: Secret.digits(Schema.String) })
    expect(Secret.encodedPlaces(schema)({ last_code: "1" }, hide)).toStrictEqual({ last_code: "digits of string" })
  })

  const urls: ReadonlyArray<readonly [url: string, shown: string | null]> = [
    ["https://example.com/a.wav", null],
    ["https://example.com/a.wav?token=s3cret", "https://example.com/a.wav?•••"],
    ["https://example.com/a.wav#s3cret", "https://example.com/a.wav?•••"],
    ["https://user:s3cret@example.com:8443/a.wav", "https://example.com:8443/a.wav"],
    ["https://user:s3cret@example.com/?s3cret", "https://example.com/?•••"],
    ["https://example.com/@home", null],
    ["not a URL?s3cret", "•••"]
  ]
  for (const [url, shown] of urls)
    it(`show ${url} as ${shown ?? "itself"}, and that again as it is`, () => {
      expect(Secret.shown("url", url)).toBe(shown)
      expect(Secret.maskUrl(Secret.maskUrl(url))).toBe(shown ?? url)
    })
})
