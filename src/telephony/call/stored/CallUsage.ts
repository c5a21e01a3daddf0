import * as Destination from "../../../domain/number/Destination.ts"
import type { Dimensions, UsageRow } from "../../../runtime/store/usage/UsageRow.ts"
import { type CallState, durationSeconds } from "../machine/CallState.ts"
import * as Carried from "./Carried.ts"
import * as Meter from "../machine/Meter.ts"

/** The usage that an ended call adds for its tenant, guide/money.md#usage. It is counted at the time of its end. */
export const of = (call: CallState): UsageRow => {
  const { answeredAt, at, direction, endedAt, id, meters, tenantId } = call
  return {
    tenantId,
    dimensions: dimensions(call),
    counted: [
      {
        id,
        at: endedAt ?? at,
        figures: {
          [callsOf[direction]]: 1,
          answered_calls: answeredAt === null ? 0 : 1,
          call_seconds: durationSeconds(answeredAt, endedAt),
          billed_minutes: Meter.minutes(meters, "leg"),
          recording_minutes: Meter.minutes(meters, "recording"),
          transcription_minutes: Meter.minutes(meters, "transcription"),
          conference_participant_minutes: Meter.minutes(meters, "conference"),
          amd_checks: Meter.minutes(meters, "machine_detection")
        },
        carried: Carried.of(call)
      }
    ]
  }
}

const dimensions = ({ customerReference, direction, from, to }: CallState): Dimensions => ({
  customer_reference: customerReference,
  number: direction === "outbound" ? from : to,
  destination: countryOf(to)
})

const callsOf = { outbound: "outbound_calls", inbound: "inbound_calls" } as const

/** The country of a number, or the calling code when several countries share it. */
export const countryOf = (number: string): string => {
  const { callingCode, country } = Destination.of(number)
  return country ?? (callingCode === null ? "unknown" : `+${callingCode}`)
}
