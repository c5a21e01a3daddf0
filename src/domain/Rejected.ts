import { Data } from "effect"
import { type Code, rejection, type Rejection, statusOf } from "./ErrorCatalogue.ts"

/** The caller may not do this now (src/README.md#kinds-of-error): leaves as a 4xx, or 503, with its code. */
export class Rejected extends Data.TaggedError("Rejected")<Rejection> {
  /** `param`: the field or query parameter that is at fault, where there is one. */
  static of(code: Code, message: string, param?: string): Rejected {
    return new Rejected(rejection(code, message, param))
  }
}

/** HTTP status of a rejection: the raising site's, else the catalogue's. */
export const httpStatus = (rejection: Rejection): number => rejection.status ?? statusOf(rejection.code)

/** The error envelope (guide/errors.md) as its exact bytes. */
export const envelope = (rejection: Rejection): string =>
  JSON.stringify({ error: { code: rejection.code, message: rejection.message, param: rejection.param } })
