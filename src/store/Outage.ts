import type { SqlError } from "effect/sql/SqlError"

/**
 * SQLSTATEs (PostgreSQL, appendix A) of a server that cannot serve now and may later. 57P0x: it stops, starts or drops
 * this session; 53: it lacks room or connections; 58: its system fails; 25006: it has become a standby.
 */
const passing = /^(57P0|53|58|25006)/

/**
 * Whether the database is away or asks to try again: callers that can wait retry, others answer 503. Any other error is
 * a statement that the database refuses, which is a fault of ours.
 *
 * The kind and the code of an error decide, never its words: those may repeat what a tenant sent.
 */
export const is = (error: SqlError): boolean => {
  if (error.isRetryable || error.reason._tag === "AuthenticationError") return true
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause && passing.test(String(cause.code))
}
