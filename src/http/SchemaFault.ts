import { Schema, SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
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
      /** Set by `coded`, `disagreement` and `PathId.uuid`. */
      readonly "trunkline/code"?: Code | undefined
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

export const toRejected = (error: HttpApiError.HttpApiSchemaError): Rejected => {
  const code = codeOf(error.cause.issue)
  // A UUID in a path that is none names nothing (decision C11).
  if (code === "not_found") return Rejected.of(code, "there is no such resource")
  const [first] = format(error.cause.issue).issues
  const path = pathOf(first?.path as ReadonlyArray<PropertyKey> | undefined)
  const { _tag } = error.cause.issue
  const isWhole = error.kind === "Payload" && path === "" && (_tag === "InvalidType" || _tag === "AnyOf")
  const text = isWhole ? "the body must be a JSON object" : (first?.message ?? "the request is not valid")
  return Rejected.of(code ?? "invalid_request", path === "" ? text : `${path}: ${text}`)
}
