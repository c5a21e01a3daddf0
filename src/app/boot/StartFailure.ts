import { Cause } from "effect"
import { ConfigInvalid } from "./config/Environment.ts"

/**
 * The reason why the service did not start, as one line that names what to change: the message of each typed failure of
 * a start-up step. Any other failure is a fault of ours and is shown whole.
 */
export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const isExpected = typeof error === "object" && error !== null && "_tag" in error && error instanceof Error
  return isExpected ? error.message.replaceAll("\n", " ") : Cause.pretty(cause)
}

/** `EX_CONFIG` of sysexits.h. */
const wrongSetting = 78

/** The exit code: the unit for systemd does not repeat a start with a wrong setting, because each would fail. */
export const exitCode = (cause: Cause.Cause<unknown>): number =>
  Cause.squash(cause) instanceof ConfigInvalid ? wrongSetting : 1
