import { at } from "../../demo/Json.ts"
import type { Caller, Headers, Walk } from "../Walk.ts"
import type { Tenants } from "./Tenants.ts"

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<{ [name: string]: Schema }>
  readonly required?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly items?: Schema | boolean
  readonly enum?: ReadonlyArray<unknown>
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
}

interface Operation {
  readonly security?: ReadonlyArray<unknown>
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Schema }>
  readonly requestBody?: {
    readonly content: { readonly "application/json"?: { readonly schema: Schema; readonly example?: unknown } }
  }
}

/** A way to ask an operation that is refused, or that finds what is over. */
type Fault = () => Promise<unknown>

const object = (value: unknown): Readonly<{ [name: string]: unknown }> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}

/** Values that a field of this schema refuses, for each of its rules one. */
const wrongs = (schema: Schema): ReadonlyArray<unknown> => {
  const inner = schema.anyOf?.find(({ type }) => type !== "null") ?? schema
  const isNullable = schema.anyOf?.some(({ type }) => type === "null") === true
  return [
    inner.type === "string" ? 7 : "what",
    ...(inner.type === "object" ? [{ what: 1 }] : [{}]),
    ...(isNullable ? [] : [null]),
    ...(inner.enum !== undefined || inner.pattern !== undefined || inner.format !== undefined ? ["what ever"] : []),
    ...(inner.maxLength === undefined ? [] : ["a".repeat(inner.maxLength + 1)]),
    ...(inner.minLength === undefined ? [] : [""]),
    ...(inner.minimum === undefined ? [] : [inner.minimum - 1, 1.5]),
    ...(inner.maximum === undefined ? [] : [inner.maximum + 1]),
    ...(inner.type === "array" ? [["what", 1], [null]] : [])
  ]
}

const notJson: ReadonlyArray<readonly [body: string, headers?: Headers]> = [
  ["{"],
  ["[]"],
  ["null"],
  ["{}", { "content-type": "text/plain" }],
  ["", { "content-length": "0" }]
]

/** Fill the parameters of a path with ids of ended things, of the main tenant and of another one. */
export interface Known {
  readonly own: (path: string) => string
  readonly foreign: (path: string) => string
}

const faultsOf = (
  walk: Walk,
  { main, narrow, poor }: Tenants,
  method: string,
  template: string,
  operation: Operation,
  schemas: Readonly<{ [name: string]: Schema }>,
  known: Known,
  otherMethods: ReadonlyArray<string>
): ReadonlyArray<Fault> => {
  const isPublic = operation.security?.length === 0
  const caller: Caller = isPublic ? walk.as(null) : main
  const path = known.own(template)
  const content = operation.requestBody?.content["application/json"]
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] ?? {})
  const body = content === undefined ? null : resolve(content.schema)
  // No name is looked up: what the examples lead to is here.
  const example = object(
    JSON.parse(JSON.stringify(content?.example ?? null).replace(/\/\/[a-z.]*example\.com/g, `//${walk.peer.address}`))
  )
  const ask = (given: object | string | null, headers: Headers = {}, by: Caller = caller, to = path): Fault => {
    return () => by.ask(method, to, given, headers)
  }
  const good = content === undefined ? null : example
  const unnamed = template.replace(/\{\w+\}/g, "what")
  const misnamed = template.replace(/\{\w+\}/g, `svc_what_${"0".repeat(32)}`)
  const slash = path.endsWith("/") ? path.slice(0, -1) : `${path}/`
  const names = template.includes("{") ? [unnamed, misnamed, known.foreign(template)] : []
  return [
    ...(isPublic
      ? []
      : [ask(good, {}, walk.as(null)), ask(good, { authorization: `Bearer svc_live_${"b".repeat(43)}` })]),
    ...(isPublic ? [] : [ask(good, {}, narrow)]),
    ask(good, {}, caller, `${path}?what=1`),
    ...names.map((name) => ask(good, {}, main, name)),
    ...(template.includes("{") ? [ask(good, {}, poor), ask(good, {}, main, slash)] : []),
    ...otherMethods.slice(0, 2).map(
      (other): Fault =>
        () =>
          caller.ask(other, path)
    ),
    () => caller.ask("OPTIONS", path),
    ...(method === "GET" ? [() => caller.ask("HEAD", path)] : []),
    ...(body === null ? [] : [ask({ ...example, what: 1 })]),
    ...(body === null ? [] : notJson.map(([given, headers]) => ask(given, headers))),
    ...(body?.required ?? []).map((name) => {
      const { [name]: _, ...rest } = example
      return ask(rest)
    }),
    ...Object.entries(body?.properties ?? {}).flatMap(([name, schema]) =>
      wrongs(resolve(schema)).map((wrong) => ask({ ...example, [name]: wrong }))
    ),
    ...(operation.parameters ?? [])
      .filter((parameter) => parameter.in === "query")
      .flatMap(({ name }) => ["what%20ever", ""].map((wrong) => ask(null, {}, caller, `${path}?${name}=${wrong}`)))
  ]
}

/** Each operation of the document is asked wrongly, in turns, until so many requests were made. */
export const walk = async (walk: Walk, tenants: Tenants, document: unknown, known: Known, total: number) => {
  const schemas = at(document, "components", "schemas") as Readonly<{ [name: string]: Schema }>
  const paths = Object.entries(
    at(document, "paths") as Readonly<{ [path: string]: Readonly<{ [method: string]: Operation }> }>
  )
  const turns = paths.flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const others = ["put", "delete", "patch", "post", "get"].filter((other) => !(other in operations))
      const upper = others.map((other) => other.toUpperCase())
      return faultsOf(walk, tenants, method.toUpperCase(), path, operation, schemas, known, upper)
    })
  )
  for (let nth = 0; walk.client.entries.length < total; nth++) {
    const round = turns.flatMap((faults) => faults[nth] ?? [])
    if (round.length === 0) throw new Error(`the document gives ${walk.client.entries.length} requests only`)
    for (const fault of round) if (walk.client.entries.length < total) await fault()
  }
}
