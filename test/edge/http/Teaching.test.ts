import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/edge/http/Api.ts"
import * as Document from "../../../src/edge/http/document/Document.ts"
import type { Components } from "../../../src/edge/http/document/Example.ts"
import { isJson, type Json } from "../../../src/edge/http/document/Json.ts"
import * as DocumentOperation from "../../../src/edge/http/document/DocumentOperation.ts"

const document = Document.make() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Components }
  readonly webhooks: Readonly<Record<string, unknown>>
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
)

type Codec = Schema.Codec<unknown, unknown>
const endpoints = new Map<
  string,
  { readonly payload: Codec | null; readonly query: Codec | undefined; readonly successes: ReadonlyMap<number, Codec> }
>()
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, successes }) => {
    endpoints.set(`${endpoint.method} ${endpoint.path.replaceAll(/:([a-z_]+)/g, "{$1}")}`, {
      payload: DocumentOperation.payloadOf(endpoint)?.schema ?? null,
      query: endpoint.query as Codec | undefined,
      successes: new Map([...successes].map(([status, [schema]]) => [status, schema as unknown as Codec]))
    })
  }
})

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((part, name) => (isJson(part) ? part[name] : undefined), value)

const media = (part: unknown): Json => at(part, "content", "application/json") as Json

/** A file cannot have an example. */
const isFile = (response: unknown): boolean => {
  const [type = "", ...more] = Object.keys(at(response, "content") as Json)
  return more.length === 0 && ["text/csv", "application/octet-stream", "application/pdf"].includes(type)
}

const isUnder =
  (...keywords: ReadonlyArray<string>) =>
  (field: Json) =>
    keywords.some((keyword) => keyword in field)
const shows = isUnder("examples", "const", "enum", "default", "$ref", "properties", "items")
/** The field has an example, or one of its forms does. */
const hasExample = (field: Json): boolean =>
  shows(field) || ((field["anyOf"] as ReadonlyArray<Json> | undefined) ?? []).some(hasExample)

/** Yields every property of a schema, with its path. The target of a `$ref` is visited where it is defined. */
function* fieldsOf(schema: unknown, path: string): Generator<readonly [path: string, field: Json]> {
  if (!isJson(schema)) return
  for (const [name, field] of Object.entries(isJson(schema["properties"]) ? schema["properties"] : {})) {
    if (!isJson(field)) continue
    yield [`${path}.${name}`, field]
    yield* fieldsOf(field, `${path}.${name}`)
  }
  if (isJson(schema["items"])) yield* fieldsOf(schema["items"], `${path}[]`)
  for (const keyword of ["anyOf", "allOf"])
    for (const [index, part] of (Array.isArray(schema[keyword]) ? schema[keyword] : []).entries())
      yield* fieldsOf(part, `${path}.${keyword}${index}`)
}

const fields = [
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) => [...fieldsOf(schema, name)]),
  ...operations.flatMap(({ name, operation }) => [
    ...fieldsOf(media(operation["requestBody"])?.["schema"], `${name} body`),
    ...Object.entries(operation["responses"] as Json)
      .filter(([status]) => status < "400")
      .flatMap(([status, response]) => [...fieldsOf(media(response)?.["schema"], `${name} ${status}`)])
  ])
]

describe("the published document teaches", () => {
  it("what each change takes, or that it takes no fields; only the card processor sends what it likes", () => {
    const undeclared = [...endpoints].flatMap(([name, { payload }]) =>
      /^(POST|PUT|PATCH) /.test(name) && payload === null ? [name] : []
    )
    expect(undeclared).toEqual(["POST /v1/billing/webhooks/stripe"])
  })
  it("what every field means, with a value that it may have", () => {
    expect(fields.length).toBeGreaterThan(250)
    const silent = fields.filter(([, field]) => typeof field["description"] !== "string" && !("$ref" in field))
    expect(silent.map(([path]) => path)).toEqual([])
    const bare = fields.filter(([, field]) => !hasExample(field) && field["type"] !== "boolean")
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it("what every parameter means", () => {
    for (const { name, operation } of operations)
      for (const parameter of operation["parameters"] as ReadonlyArray<Json>)
        expect([name, parameter["name"], typeof parameter["description"]]).toEqual([name, parameter["name"], "string"])
  })

  it.each(operations)("$name with examples that it takes and answers", ({ name, operation }) => {
    const endpoint = endpoints.get(name)
    const request = media(operation["requestBody"])
    if (endpoint?.payload !== null && endpoint !== undefined) {
      expect(request).toHaveProperty("example")
      const decoded = Schema.decodeUnknownResult(endpoint.payload, { onExcessProperty: "error" })(request["example"])
      expect(Result.isFailure(decoded) ? decoded.failure.message : null).toBeNull()
    }
    const isRefusal = name.endsWith("/signing-secret")
    const successes = Object.entries(operation["responses"] as Json).filter(([status]) => status < "400")
    expect(successes.length).toBe(isRefusal ? 0 : 1)
    for (const [status, response] of successes) {
      if (status === "204") continue
      const schema = endpoint?.successes.get(Number(status))
      if (schema === undefined) throw new Error(`${name} declares no ${status}`)
      if (isFile(response)) continue
      const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })(media(response)["example"])
      expect(Result.isFailure(decoded) ? decoded.failure.message : null).toBeNull()
    }
  })

  it.each(operations)("$name with the defaults that hold, which are all there are", ({ name, operation }) => {
    const schema = endpoints.get(name)?.payload ?? null
    const $ref =
      String(at(media(operation["requestBody"]), "schema", "$ref"))
        .split("/")
        .at(-1) ?? ""
    const body = document.components.schemas[$ref]
    if (schema === null || body === undefined) return
    const example = media(operation["requestBody"])["example"] as Json
    const published = Object.entries(body["properties"] as Readonly<Record<string, Json>>).flatMap(([field, of]) =>
      "default" in of ? [[field, of["default"]]] : []
    )
    const required = new Set((body["required"] as ReadonlyArray<string> | undefined) ?? [])
    const least = Object.fromEntries(Object.entries(example).filter(([field]) => required.has(field)))
    const taken = Schema.encodeUnknownSync(schema)(Schema.decodeUnknownSync(schema)(least)) as Json
    expect(Object.fromEntries(published)).toEqual(
      Object.fromEntries(Object.entries(taken).filter(([field]) => !(field in least)))
    )
  })

  it("limits, patterns, enums and defaults as they are enforced", () => {
    const property = (schema: string, name: string) =>
      at(document.components.schemas[schema], "properties", name) as Json
    expect(property("PlaceCall", "timeout_secs")).toMatchObject({ minimum: 1, maximum: 600, default: 60 })
    expect(property("PlaceCall", "from")).toMatchObject({ pattern: "^\\+[0-9]{6,15}$" })
    expect(property("CreateApiKey", "name")).toMatchObject({ minLength: 1, maxLength: 120 })
    expect(property("SendDtmf", "duration_millis")).toMatchObject({ minimum: 100, maximum: 500, default: 250 })
    expect(property("Gather", "valid_digits")).toMatchObject({ default: "0123456789#*" })
    expect(property("OrderNumbers", "phone_numbers")).toMatchObject({ minItems: 1, maxItems: 50 })
    const parameter = (name: string) =>
      (at(document.paths, "/v1/calls", "get", "parameters") as ReadonlyArray<Json>).find((one) => one["name"] === name)
    expect(parameter("page")).toMatchObject({ schema: { type: "integer", minimum: 1, default: 1 } })
    expect(parameter("page_size")).toMatchObject({ schema: { type: "integer", minimum: 1, default: 20 } })
    expect(parameter("initiated_after")).toMatchObject({ schema: { type: "string", format: "date-time" } })
  })
})
