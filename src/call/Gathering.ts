import type { GatherStatus } from "../domain/event/CallEvent.ts"
import type { Gather } from "./CallState.ts"

/**
 * Digit collection without a prompt, decision 2.1.4.
 *
 * It is complete at the terminating digit, at `maximumDigits`, when the first digit or the next one does not come in
 * time, or when the whole takes too long. Enough digits are `valid` however it ended; too few are `invalid` after the
 * terminating digit and `timeout` after time ran out.
 */
export interface Complete {
  readonly digits: string
  readonly status: GatherStatus
}

export const withDigit = (gather: Gather, digit: string, at: number): Gather | Complete => {
  const { options, digits } = gather
  if (digit === options.terminatingDigit)
    return { digits, status: digits.length >= options.minimumDigits ? "valid" : "invalid" }
  // A digit that is not asked for neither counts nor keeps the gather waiting.
  if (!options.validDigits.includes(digit)) return gather
  const collected = digits + digit
  if (collected.length >= options.maximumDigits) return { digits: collected, status: "valid" }
  return { ...gather, digits: collected, lastDigitAt: at }
}

export const timedOut = ({ digits, options }: Gather): Complete => ({
  digits,
  status: digits.length > 0 && digits.length >= options.minimumDigits ? "valid" : "timeout"
})

/** When it ends by itself if no digit comes. */
export const dueAt = ({ lastDigitAt, options, startedAt }: Gather): number =>
  Math.min(
    startedAt + options.timeoutMs,
    lastDigitAt === null ? startedAt + options.initialTimeoutMs : lastDigitAt + options.interDigitTimeoutMs
  )

export const isComplete = (value: Gather | Complete): value is Complete => "status" in value
