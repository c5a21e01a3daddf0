import { Data } from "effect"
import { type Code, statusOf } from "./ErrorCatalogue.ts"

/**
 * The answer of a machine or a door when the caller may not do this now (src/README.md#kinds-of-error). It leaves with its
 * code, as a 4xx or 503.
 */
export class ApiError extends Data.TaggedError("ApiError")<{
  readonly code: Code
  /** Human text; may change. */
  readonly message: string
  /** Path of the field, or name of the query parameter, that is at fault, where there is one. */
  readonly param?: string
  /** Only where the raising site differs from the catalogue. */
  readonly status?: number
}> {
  /** `param`: the field or query parameter that is at fault, where there is one. */
  static of(code: Code, message: string, param?: string): ApiError {
    return new ApiError(param === undefined ? { code, message } : { code, message, param })
  }

  /** The same error with the status of its raising site. */
  static at(status: number, { code, message, param }: ApiError): ApiError {
    return new ApiError(param === undefined ? { code, message, status } : { code, message, param, status })
  }
}

/** HTTP status of an error: the raising site's, else the catalogue's. */
export const httpStatus = (error: ApiError): number => error.status ?? statusOf(error.code)

/** The error envelope (guide/errors.md) as its exact bytes. */
export const envelope = ({ code, message, param }: ApiError): string =>
  JSON.stringify({ error: { code, message, param } })
