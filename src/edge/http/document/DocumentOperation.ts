import { Context, type Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type About, Described } from "../Endpoint.ts"
import * as Errors from "./Errors.ts"
import * as Example from "./Example.ts"
import { isJson, type Json } from "./Json.ts"

/** An operation of the published document: generated from its schemas, and completed by what its endpoint declares. */

const aboutOf = (endpoint: HttpApiEndpoint.Top): About => Context.getUnsafe(endpoint.annotations, Described)

/** The body's schema, or null when the endpoint takes none. A second schema, of `null`, makes the body optional. */
export const payloadOf = (
  endpoint: HttpApiEndpoint.Top
): { readonly schema: Schema.Codec<unknown, unknown>; readonly isOptional: boolean } | null => {
  const schemas = [...endpoint.payload.values()].flatMap(({ schemas }) => [...schemas])
  const [body] = schemas.filter(({ ast }) => ast._tag !== "Null")
  return body === undefined ? null : { schema: body as Schema.Codec<unknown, unknown>, isOptional: schemas.length > 1 }
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 128 },
  description: "The first response is stored for 24 hours; a repetition returns it with `Idempotent-Replayed: true`.",
  example: "order-7"
}

const replayed = {
  "Idempotent-Replayed": { description: "`true` on a stored response.", schema: { type: "string", enum: ["true"] } }
}

/** Reduces `anyOf` a body and `null` to the body. */
const withoutNull = (schema: Json): Json => {
  const members = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isJson) : []
  const bodies = members.filter((member) => member["type"] !== "null")
  return members.length === 2 && bodies.length === 1 && bodies[0] !== undefined ? bodies[0] : schema
}

const schemaIn = (part: unknown): Json | null => {
  const content = isJson(part) ? part["content"] : undefined
  const media = isJson(content) ? content["application/json"] : undefined
  const schema = isJson(media) ? media["schema"] : undefined
  return isJson(schema) ? schema : null
}

/** The name of the body's schema among the document's components. */
export const bodyOf = (operation: Json): string | null => {
  const schema = schemaIn(operation["requestBody"])
  const $ref = schema === null ? undefined : withoutNull(schema)["$ref"]
  return typeof $ref === "string" ? ($ref.split("/").at(-1) ?? null) : null
}

const requestBody = (operation: Json, endpoint: HttpApiEndpoint.Top, components: Example.Components): Json | null => {
  const payload = payloadOf(endpoint)
  const schema = schemaIn(operation["requestBody"])
  if (payload === null || schema === null) return null
  const body = withoutNull(schema)
  const example = aboutOf(endpoint).example?.request ?? Example.of(body, components)
  return { required: !payload.isOptional, content: { "application/json": { schema: body, example } } }
}

/** The content of an answer that is not JSON, as declared. */
const otherContent = (response: Json): Json | null => {
  const content = response["content"]
  return isJson(content) && content["application/json"] === undefined ? content : null
}

const success = (response: Json, about: About, components: Example.Components, headers: Json): Json => {
  const other = otherContent(response)
  if (other !== null) return { description: "Done.", ...headers, content: other }
  const schema = schemaIn(response)
  const noContent = schema === null
  const description = noContent ? "Done; there is nothing to tell." : "Done."
  if (noContent) return { description, ...headers }
  const example = about.example?.response ?? Example.of(schema, components)
  return { description, ...headers, content: { "application/json": { schema, example } } }
}

const parameter = (value: unknown, components: Example.Components): unknown => {
  if (!isJson(value) || !isJson(value["schema"])) return value
  const { description, ...schema } = value["schema"]
  const isRequired = value["required"] === true
  return {
    ...value,
    schema,
    ...(description === undefined ? {} : { description }),
    // An optional parameter gets no example, so that a client that fills in every example does not set it.
    ...(isRequired ? { example: Example.of(schema, components) } : {})
  }
}

export const describe = (operation: Json, endpoint: HttpApiEndpoint.Top, components: Example.Components): Json => {
  const about = aboutOf(endpoint)
  const honoursKey = Errors.honoursKey(endpoint, about)
  const body = requestBody(operation, endpoint, components)
  const { requestBody: _, responses, parameters, ...rest } = operation
  const successes = Object.entries(responses as Readonly<Record<string, Json>>)
    .filter(([status]) => status < "400" && about.alwaysRefuses !== true)
    .map(([status, response]) => [
      status,
      success(response, about, components, honoursKey ? { headers: replayed } : {})
    ])
  return {
    ...rest,
    description: about.description ?? `${about.summary}.`,
    ...(about.scope === null ? { security: [] } : { security: [{ bearer: [] }], "x-required-scope": about.scope }),
    parameters: [
      ...(Array.isArray(parameters) ? parameters.map((value) => parameter(value, components)) : []),
      ...(honoursKey ? [idempotencyKey] : [])
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: { ...Object.fromEntries(successes), ...Errors.responses(endpoint, about) }
  }
}
