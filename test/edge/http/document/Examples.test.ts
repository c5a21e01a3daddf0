import { describe, expect, it } from "@effect/vitest"
import * as Document from "../../../../src/edge/http/document/Document.ts"

type Json = Readonly<Record<string, unknown>>
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null

/** Every value of the document that is called `example`, with the values inside it. */
const inside = (value: unknown): ReadonlyArray<Json> =>
  isJson(value) ? [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(inside)] : []
const examples = inside(Document.make()).flatMap(({ example }) => inside(example))

describe("The examples of the document", () => {
  it("give a file or its URL, as the request takes one of the two", () => {
    const files = examples.filter((example) => "content_base64" in example)
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) expect(file).not.toHaveProperty("url")
  })

  it("agree with themselves: a call or leg that is initiated was not answered, has not ended and has no duration", () => {
    const initiated = examples.filter(({ status }) => status === "initiated")
    expect(initiated.length).toBeGreaterThan(2)
    for (const each of initiated) {
      expect(each).toMatchObject({
        answered_at: null,
        ended_at: null,
        duration_seconds: 0,
        end_reason: null,
        why: null
      })
      for (const field of ["quality", "sip_status", "sip_reason", "cost_cents"])
        expect(each[field] ?? null, field).toBeNull()
    }
  })

  it("of an error have the fields that each part of their schema names", () => {
    for (const { allOf, properties } of inside(Document.make()))
      if (Array.isArray(allOf) && properties === undefined)
        for (const part of allOf.filter(isJson)) {
          const error = isJson(part["properties"]) ? part["properties"]["error"] : undefined
          if (isJson(error) && isJson(error["properties"]))
            expect(Object.keys(error["properties"])).toContain("message")
        }
  })
})
