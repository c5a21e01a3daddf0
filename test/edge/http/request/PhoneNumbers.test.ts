import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Document from "../../../../src/edge/http/document/Document.ts"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

type Json = Readonly<Record<string, unknown>>
const object = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {})
const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce((inner, name) => object(inner)[name], value)

const published: unknown = JSON.parse(Document.render())
const resolved = (schema: unknown): Json => {
  const name = at(schema, "$ref")
  return object(
    typeof name === "string" ? at(published, "components", "schemas", name.split("/").at(-1) ?? "") : schema
  )
}

type Path = ReadonlyArray<string>
/** The places of phone numbers in a body, by the pattern of their schema. */
const numbersIn = (schema: unknown, path: Path = []): ReadonlyArray<Path> => {
  const found = resolved(schema)
  if (found["pattern"] === "^\\+[0-9]{6,15}$") return [path]
  return [
    ...Object.entries(object(found["properties"])).flatMap(([name, field]) => numbersIn(field, [...path, name])),
    ...(found["items"] === undefined ? [] : numbersIn(found["items"], [...path, "0"])),
    ...(["anyOf", "allOf"] as const).flatMap((key) =>
      Array.isArray(found[key]) ? found[key].flatMap((each) => numbersIn(each, path)) : []
    )
  ]
}

const withValue = (body: unknown, [first, ...rest]: Path, value: string): unknown => {
  if (first === undefined) return value
  if (Array.isArray(body))
    return body.map((each: unknown, index) => (String(index) === first ? withValue(each, rest, value) : each))
  return { ...object(body), [first]: withValue(object(body)[first], rest, value) }
}

interface Place {
  readonly method: string
  readonly path: string
  readonly number: Path
  readonly example: unknown
}

const places: ReadonlyArray<Place> = Object.entries(object(at(published, "paths"))).flatMap(([path, methods]) =>
  Object.entries(object(methods)).flatMap(([method, operation]) => {
    const content = at(operation, "requestBody", "content", "application/json")
    const parameters = at(operation, "parameters")
    const filled = (Array.isArray(parameters) ? parameters : []).reduce<string>((text, parameter) => {
      const [name, example] = [at(parameter, "name"), at(parameter, "schema", "examples", "0")]
      return typeof name === "string" && typeof example === "string" ? text.replace(`{${name}}`, example) : text
    }, path)
    return numbersIn(at(content, "schema")).map((number) => ({
      method: method.toUpperCase(),
      path: filled,
      number,
      example: at(content, "example")
    }))
  })
)

/** The numbers to port, which a porting order judges one by one by the numbering plans. */
const isJudged = ({ number, path }: Place) => path.startsWith("/v1/porting/") && number[0] === "phone_numbers"

const hidden = [
  "+005352123456",
  "+0115352123456",
  "+10115352123456",
  "+10115352123",
  "+4900535212345",
  "+4903012345678",
  "+999123456"
]

layer(TestServer.layer(new TestServer.World()))("phone numbers in bodies, guide/requests.md#phone-numbers", (it) => {
  it.effect.each(places.filter((place) => !isJudged(place)))("$method $path refuses $number of no plan", (place) =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      for (const number of hidden) {
        const answer = yield* Effect.promise(() =>
          TestServer.send(port, place.method, place.path, {
            body: withValue(place.example, place.number, number),
            undocumented: true
          })
        )
        expect([number, answer.status, TestServer.codeOf(answer)]).toEqual([number, 400, "invalid_request"])
      }
    })
  )

  it("are nine fields of calls, transfers, participants, number orders and porting orders", () =>
    expect(places.filter((place) => !isJudged(place)).map(({ number }) => number.join("."))).toEqual([
      "phone_numbers.0",
      "end_user.billing_phone_number",
      "end_user.billing_phone_number",
      "from",
      "to",
      "to",
      "from",
      "from",
      "to"
    ]))
})
