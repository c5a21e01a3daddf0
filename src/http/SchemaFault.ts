import { Schema, SchemaIssue } from "effect"
import type { HttpApiEndpoint, HttpApiError } from "effect/http-api"
import type { Code } from "../domain/ErrorCatalogue.ts"
import { Rejected } from "../domain/Rejected.ts"

/**
 * From schema faults to rejections: the first fault of a request becomes its message (decision C6), with code
 * `invalid_request`, unless the check that failed names another code.
 */
const codeKey = "trunkline/code"

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      /** Set by `coded` and `disagreement`. */
      readonly "trunkline/code"?: Code | undefined
      /** Set by `PathId.uuid`. */
      readonly "trunkline/absent"?: true | undefined
    }
  }
}

/** A check whose failure is answered with `code`: `event_types_required`, `invalid_target_url` and their like. */
export const coded = <A>(code: Code, check: (value: A) => string | undefined) =>
  Schema.makeFilter<A>(check, { [codeKey]: code })

/** Two valid fields that disagree, or what cannot be had: 422 `unprocessable` (decision C12). */
export const disagreement = <A>(check: (value: A) => string | undefined) => coded("unprocessable", check)

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "UnexpectedKey":
        return "is not known here"
      case "MissingKey":
        return "is required"
      default:
        return SchemaIssue.defaultLeafHook(issue)
    }
  }
})

const codeOf = (issue: SchemaIssue.Issue): Code | undefined => {
  switch (issue._tag) {
    case "Filter":
      return issue.filter.annotations?.[codeKey] ?? codeOf(issue.issue)
    case "Encoding":
    case "Pointer":
      return codeOf(issue.issue)
    case "Composite":
    case "AnyOf":
      return issue.issues[0] === undefined ? undefined : codeOf(issue.issues[0])
    default:
      return undefined
  }
}

const pathOf = (path: ReadonlyArray<PropertyKey> | undefined): string =>
  (path ?? [])
    .map((segment) => (typeof segment === "number" ? `[${segment}]` : `.${String(segment)}`))
    .join("")
    .replace(/^\./, "")

export const toRejected = (error: HttpApiError.HttpApiSchemaError, endpoint: HttpApiEndpoint.Top): Rejected => {
  const [first] = format(error.cause.issue).issues
  const path = pathOf(first?.path as ReadonlyArray<PropertyKey> | undefined)
  if (error.kind === "Params" && isAbsent(endpoint, path)) return Rejected.of("not_found", "there is no such resource")
  const text = first?.message ?? "the request is not valid"
  return Rejected.of(codeOf(error.cause.issue) ?? "invalid_request", path === "" ? text : `${path}: ${text}`)
}

/** A UUID in a path that is none names nothing: 404 (decision C11). */
const isAbsent = (endpoint: HttpApiEndpoint.Top, name: string): boolean => {
  const fields = endpoint.params !== undefined && "fields" in endpoint.params ? endpoint.params.fields : {}
  const field = (fields as Readonly<Record<string, Schema.Top | undefined>>)[name]
  return field !== undefined && Schema.resolveAnnotations(field)?.["trunkline/absent"] === true
}
