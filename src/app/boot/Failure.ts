import { Cause } from "effect"

/**
 * Why the service did not start, as one line that names what to change: each typed failure of a start-up step says so
 * in its message. Anything else is a fault of ours and is shown whole.
 */
export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const isExpected = typeof error === "object" && error !== null && "_tag" in error && error instanceof Error
  return isExpected ? error.message.replaceAll("\n", " ") : Cause.pretty(cause)
}
