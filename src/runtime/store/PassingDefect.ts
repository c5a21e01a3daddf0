import { SqlError } from "effect/sql/SqlError"
import { ApiError } from "../../domain/ApiError.ts"
import * as Outage from "./Outage.ts"
import { JournalLost } from "./owner/Ownership.ts"

const unavailable = ApiError.of("service_unavailable", "the service cannot reach its database at the moment")
const elsewhere = ApiError.of("service_unavailable", "another process has taken this over; try again")

/** The answer to the caller, and the reason for the log. */
interface Passing {
  readonly answer: ApiError
  readonly why: string
}

/**
 * Recognizes a defect after which nothing was written, so that the request may be repeated: 503. Null: a fault of ours.
 */
export const of = (defect: unknown): Passing | null => {
  if (defect instanceof JournalLost) return { answer: elsewhere, why: "a request met a partition that is another's" }
  return defect instanceof SqlError && Outage.is(defect)
    ? { answer: unavailable, why: "a request met an unreachable database" }
    : null
}
