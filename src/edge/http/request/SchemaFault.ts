import { SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { codeKey } from "../../../domain/schema/CodedCheck.ts"
import { type Code, statusOf } from "../../../domain/ErrorCatalogue.ts"
import { ApiError } from "../../../domain/ApiError.ts"

/**
 * Turns schema faults into errors of the API: `invalid_request`, unless the failed check names another code. The
 * message names the faults in order, at most ten. `param` is the field or parameter of the fault that decides the code.
 */
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

interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
  readonly code: Code
}

/** Yields the faults of an issue in order, one by one, because a body can have hundreds of thousands. */
function* faultsOf(issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): Generator<Fault> {
  switch (issue._tag) {
    case "Encoding":
      return yield* faultsOf(issue.issue, path)
    case "Pointer":
      return yield* faultsOf(issue.issue, [...path, ...issue.path])
    case "Composite":
    case "AnyOf":
      if (issue.issues.length > 0) {
        for (const one of issue.issues) yield* faultsOf(one, path)
        return
      }
  }
  const code =
    issue._tag === "Filter"
      ? issue.filter.annotations?.[codeKey]
      : issue._tag === "MissingKey"
        ? issue.annotations?.[codeKey]
        : undefined
  for (const { message, path: inner } of format(issue).issues)
    yield { path: [...path, ...(inner as ReadonlyArray<PropertyKey>)], message, code: code ?? "invalid_request" }
}

/** Spells a path as in `phone_numbers[3]` or `voice.language`. */
export const nameOf = (path: ReadonlyArray<PropertyKey>): string =>
  path
    .map((segment) => (typeof segment === "number" ? `[${segment}]` : `.${String(segment)}`))
    .join("")
    .replace(/^\./, "")

/** The most faults that a message names. */
const named = 10

export const toApiError = (error: HttpApiError.HttpApiSchemaError): ApiError => {
  const { issue } = error.cause
  if (
    error.kind === "Payload" &&
    (issue._tag === "InvalidType" || (issue._tag === "AnyOf" && issue.issues.length === 0))
  )
    return ApiError.of("invalid_request", "the body must be a JSON object")
  const faults: Array<Fault> = []
  for (const fault of faultsOf(issue, [])) {
    // Two checks of one field may have the same message.
    const last = faults.at(-1)
    if (last?.message === fault.message && nameOf(last.path) === nameOf(fault.path)) continue
    if (faults.push(fault) === named) break
  }
  // A malformed value takes precedence over one that does not exist or is not available.
  const decisive = faults.find(({ code }) => statusOf(code) === 400) ?? faults[0]
  if (decisive === undefined) return ApiError.of("invalid_request", "the request is not valid")
  const message = faults
    .map((fault) => (fault.path.length === 0 ? fault.message : `${nameOf(fault.path)}: ${fault.message}`))
    .join("; ")
  const param = nameOf(decisive.path)
  return ApiError.of(decisive.code, message, param === "" ? undefined : param)
}
