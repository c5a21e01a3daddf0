import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/edge/http/Api.ts"
import * as Document from "../../src/edge/http/document/Document.ts"
import * as DocumentOperation from "../../src/edge/http/document/DocumentOperation.ts"
import { isJson, type Json } from "../../src/edge/http/document/Json.ts"
import * as Commands from "../../src/edge/operator/command/Commands.ts"

type Codec = Schema.Codec<unknown, unknown>

/** Texts that show nothing: white space, characters without width, marks without a letter. */
const blanks = [
  " ",
  "\t\n",
  "\u00a0\u2003\u3000",
  "\u2028\u2029",
  "\u200b",
  "\u200c\u200d\u2060\ufeff",
  "\u00ad",
  "\u202e\u2066",
  "\ufe0f",
  "\u0301",
  "\u115f\u1160\u3164\uffa0",
  "\u2800",
  "\u{e0061}\u{e007f}",
  "\u0007"
]

const at = (body: unknown, field: string): unknown => (isJson(body) ? body[field] : undefined)

const isName = (field: string) => /(^|_)name$/.test(field)

/** Each body with one of its names replaced. */
function* withoutName(body: unknown, blank: string): Generator {
  if (Array.isArray(body))
    for (const [index, part] of body.entries())
      for (const other of withoutName(part, blank)) yield body.with(index, other)
  if (!isJson(body)) return
  for (const [field, part] of Object.entries(body)) {
    if (isName(field) && typeof part === "string") yield { ...body, [field]: blank }
    for (const other of withoutName(part, blank)) yield { ...body, [field]: other }
  }
}

const document = Document.make() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

const bodies: Array<readonly [string, Codec, unknown]> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    const payload = DocumentOperation.payloadOf(endpoint)
    const path = endpoint.path.replaceAll(/:([a-z_]+)/g, "{$1}")
    const body = document.paths[path]?.[endpoint.method.toLowerCase()]?.["requestBody"] as
      | { readonly content: Readonly<Record<string, { readonly example: unknown }>> }
      | undefined
    const example = body?.content["application/json"]?.example
    if (payload !== null && !withoutName(example, "").next().done)
      bodies.push([`${endpoint.method} ${path}`, payload.schema, example])
  }
})

describe("a name in a request", () => {
  it("is asked for in the requests that this test knows, and in others", () => {
    const known = [
      "POST /v1/signup",
      "POST /v1/api-keys/",
      "POST /v1/conferences/",
      "PATCH /v1/numbers/{id}",
      "POST /v1/numbers/emergency-addresses",
      "POST /v1/porting/orders",
      "POST /v1/team/invitations/accept"
    ]
    expect(bodies.map(([operation]) => operation)).toEqual(expect.arrayContaining(known))
  })

  it.each(bodies)("shows something: %s", (_operation, schema, example) => {
    const decode = Schema.decodeUnknownResult(schema)
    expect(Result.isSuccess(decode(example))).toBe(true)
    for (const blank of blanks)
      for (const body of withoutName(example, blank))
        expect([blank, body, Result.isFailure(decode(body))]).toEqual([blank, body, true])
    for (const name of ["李", "\u0915\u093e", "👩‍👩‍👧", " a ", "\u05d0\u05b8", "ﷺ", "."])
      for (const body of withoutName(example, name)) {
        // Names of headers and of callers have alphabets of their own.
        const isFree = at(body, "caller_id_name") !== name && at(body, "custom_headers") === undefined
        if (isFree) expect([body, Result.isSuccess(decode(body))]).toEqual([body, true])
      }
  })
})

const named = (await Commands.all()).flatMap(({ input, words }) =>
  Object.entries(input).flatMap(([field, schema]) =>
    /^name$|Name$/.test(field) && words !== "conference list" ? [[words, field, schema as Codec] as const] : []
  )
)

describe("a name in a command of the operator", () => {
  it("is asked for by some commands", () => {
    expect(named.map(([words]) => words)).toEqual(
      expect.arrayContaining(["route add", "key issue", "plan set", "invoice seller"])
    )
  })

  it.each(named)("shows something: %s --%s", (words, _field, schema) => {
    const decode = Schema.decodeUnknownResult(schema)
    // The names of operators have an alphabet of their own, because a header of HTTP carries them.
    expect(Result.isSuccess(decode("Ünïcode & Söhne"))).toBe(!words.startsWith("operator "))
    for (const blank of ["", ...blanks]) expect([blank, Result.isFailure(decode(blank))]).toEqual([blank, true])
  })
})
