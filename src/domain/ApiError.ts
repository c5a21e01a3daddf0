import { Data } from "effect"
import { type Code, statusOf } from "./ErrorCatalogue.ts"

/**
 * The refusal of a request by a machine or a feature (src/README.md#kinds-of-error). It is answered with its code, as a
 * 4xx or 503.
 */
export class ApiError extends Data.TaggedError("ApiError")<{
  readonly code: Code
  /** A text for people, which may change. */
  readonly message: string
  /** Path of the faulty field, or name of the faulty query parameter, if there is one. */
  readonly param?: string
  /** Set only where the status differs from the catalogue's. */
  readonly status?: number
  /** After how many seconds the request may succeed, for the header `Retry-After`. */
  readonly retryAfterSecs?: number
}> {
  /** `param`: the faulty field or query parameter, if there is one. */
  static of(code: Code, message: string, param?: string): ApiError {
    return new ApiError(param === undefined ? { code, message } : { code, message, param })
  }

  /** 429 with `Retry-After`. */
  static later(
    retryAfterSecs: number,
    message = `too many requests; try again in ${retryAfterSecs} s`,
    param?: string
  ): ApiError {
    return new ApiError({ code: "rate_limited", message, retryAfterSecs, ...(param === undefined ? {} : { param }) })
  }

  /** The same error with another status than the catalogue's. */
  static at(status: number, { code, message, param }: ApiError): ApiError {
    return new ApiError(param === undefined ? { code, message, status } : { code, message, param, status })
  }
}

/** HTTP status of an error: its own, else the catalogue's. */
export const httpStatus = (error: ApiError): number => error.status ?? statusOf(error.code)

/** The error envelope (guide/errors.md) as its exact bytes. */
export const envelope = ({ code, message, param }: ApiError): string =>
  JSON.stringify({ error: { code, message, param } })
