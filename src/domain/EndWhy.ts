import { Schema } from "effect"
import * as Wire from "./schema/Wire.ts"

/**
 * Why a call or a leg ended, finer than its end reason, guide/calls.md#why-a-call-ended. A new cause is a row here, and
 * the place that ends the leg or the call names it.
 */
const texts = {
  far_end_hung_up: "The far end hung up.",
  caller_cancelled: "The caller gave up before the answer.",
  caller_expired: "The time that the caller allowed for an answer ran out.",
  final_response: "A final SIP answer ended it; sip_status has it.",
  hangup_requested: "Your request hung it up.",
  reject_requested: "Your request rejected it.",
  connected_elsewhere: "The call was connected with another party, or joined a conference.",
  referred: "The far end was connected elsewhere and did not hang up by itself.",
  bridged_leg_ended: "The leg that it was bridged with ended.",
  call_ended: "Its call ended.",
  conference_ended: "The conference ended.",
  removed_from_conference: "It was removed from the conference.",
  conference_unreachable: "It could not come into the conference that it was dialled for.",
  ring_timeout: "There was no answer within timeout_secs.",
  no_command: "No request answered or rejected the inbound call within 30 seconds.",
  time_limit: "The longest time that the call may last is over.",
  balance_exhausted: "The balance left no further minute or increment.",
  daily_spend_cap: "The daily spend cap left no further minute or increment.",
  monthly_spend_cap: "The monthly spend cap left no further minute or increment.",
  account_unanswered: "The account did not answer in time when the next minute or increment had to be reserved.",
  tenant_suspended: "The operator suspended or closed the tenant, and ended its calls.",
  operator_hung_up: "The operator hung it up.",
  service_stopped: "The service stopped while the call lasted.",
  service_restarted: "The process that had the call died, and the leg with it.",
  service_fault: "A fault in this service ended the call.",
  carrier_unreachable: "The carrier could not be asked about the leg for 60 seconds.",
  answer_unreported: "The carrier reported no outcome of the answer within 40 seconds.",
  no_trunk: "No trunk leads to the number, or its address was not found.",
  no_response: "The far end did not respond to the INVITE in time.",
  not_sent: "The INVITE could not be sent.",
  no_ack: "The far end did not acknowledge the answer (no ACK).",
  request_unanswered: "The far end did not respond to a request within the call.",
  unknown_to_far_end: "The far end no longer knew the call (SIP 481).",
  unusable_description: "The far end's session description could not be used.",
  media_timeout: "Neither sound nor reports came from the far end for 60 seconds.",
  media_stopped: "The media thread of this service stopped.",
  no_media: "The media plane had no place for the leg.",
  no_capacity: "This service had as many legs or transactions as it may.",
  not_stored: "The answer of the far end could not be stored.",
  leg_lost: "The carrier no longer had the leg.",
  carrier_failed: "The carrier could not carry out the call.",
  unspecified: "The cause is not known."
} as const

export type Code = keyof typeof texts
const codes = Object.keys(texts) as ReadonlyArray<Code>

/** The code as a state, an event of a carrier, or a row keeps it. */
export const Code = Schema.Literals(codes)

const View = Wire.struct({
  code: Schema.Literals(codes).annotate({ description: "Further values may come.", examples: ["media_timeout"] }),
  text: Schema.String.annotate({ description: "The same for people.", examples: [texts.media_timeout] })
})
type View = typeof View.Type

export const field = Schema.NullOr(View).pipe(
  Schema.annotateEncoded({
    description: "The cause of the end, finer than `end_reason`; null until then, and where none was recorded.",
    examples: [{ code: "media_timeout", text: texts.media_timeout }]
  })
)

/** A stored value as a cause; null: it is none. */
export const read = (stored: unknown): View | null => of(codes.find((code) => code === stored))

/** The code with its text; null: it has not ended, or ended before causes were recorded. */
export const of = (code: Code | undefined): View | null => (code === undefined ? null : { code, text: texts[code] })
