import { Cause } from "effect"

/**
 * The reason why the service did not start, as one line that names what to change: the message of each typed failure of
 * a start-up step. Any other failure is a fault of ours and is shown whole.
 */
export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const isExpected = typeof error === "object" && error !== null && "_tag" in error && error instanceof Error
  return isExpected ? error.message.replaceAll("\n", " ") : Cause.pretty(cause)
}
