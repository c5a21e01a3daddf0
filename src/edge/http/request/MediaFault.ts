import type { HttpServerRequest } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Printable from "../../../domain/schema/Printable.ts"

/** A header that a message names; it may be of any length. */
const shown = (value: string): string => Printable.neutral(value.slice(0, 64))

/**
 * Refuses a body in a content coding (415, RFC 9110 section 15.5.16); null when it has none. Bodies are short, and a
 * compressed one could hold far more than its length says.
 */
export const encoded = ({ headers }: HttpServerRequest.HttpServerRequest): ApiError | null => {
  const coding = (headers["content-encoding"] ?? "").trim().toLowerCase()
  if (coding === "" || coding === "identity") return null
  const message = `the body must not be compressed, but has Content-Encoding: ${shown(coding)}`
  return ApiError.at(415, ApiError.of("invalid_request", message))
}

/**
 * Refuses a body by what its headers say of it; null when it may be JSON. It precedes each look at the bytes, because
 * the bytes of a form have faults that would lead its sender astray. A body without a type counts as JSON.
 */
export const of = (request: HttpServerRequest.HttpServerRequest): ApiError | null => {
  const [type = ""] = (request.headers["content-type"] ?? "application/json").split(";", 1)
  const given = type.trim().toLowerCase()
  if (given === "application/json") return encoded(request)
  const named = given === "" ? "" : `, not ${shown(given)}`
  return ApiError.of("invalid_request", `the body must be JSON, with Content-Type: application/json${named}`)
}
