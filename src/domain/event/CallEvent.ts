import { Schema } from "effect"
import * as EndWhy from "../EndWhy.ts"
import * as Field from "../schema/Field.ts"
import * as CallerReport from "../caller/CallerReport.ts"
import * as LegReport from "../LegReport.ts"
import * as Secret from "../schema/Secret.ts"
import * as Wire from "../schema/Wire.ts"
import type { Family } from "./PublicEvent.ts"

/** The fields of every event of a call. */
const ofCall = { callId: Field.callId(), legId: Field.legId(), customerReference: Field.customerReference }

const gatherStatus = Field.oneOf(
  "Enough digits are `valid`, however the gather ended. Too few are `invalid` after the terminating digit, `timeout` " +
    "after time ran out, `cancelled` when it was stopped, `call_ended` when the call ended.",
  ["valid", "invalid", "timeout", "cancelled", "call_ended"]
)
export type GatherStatus = typeof gatherStatus.Type

const playbackStatus = Field.oneOf("How it ended.", ["completed", "stopped", "failed"])
export type PlaybackStatus = typeof playbackStatus.Type

export const endReason = Field.oneOf("Why it ended. Further values may come.", [
  "normal_clearing",
  "cancelled",
  "no_answer",
  "timeout",
  "time_limit",
  "user_busy",
  "rejected",
  "not_found",
  "no_route",
  "conference_ended",
  "balance_exhausted",
  "tenant_suspended",
  "media_timeout",
  "carrier_error",
  "unspecified"
])
export type EndReason = typeof endReason.Type

const endInitiator = Field.oneOf("Who ended it.", ["caller", "callee", "api", "system", "carrier", "unknown"])
export type EndInitiator = typeof endInitiator.Type

/** The kinds of party that machine detection distinguishes. */
export const answeredBy = ["human_residence", "human_business", "machine", "fax", "silence", "not_sure"] as const

/** A word of a transcript. */
const Word = Wire.struct({
  word: Secret.text(Field.text("The word.", "hello")),
  startMs: Schema.Int.annotate({ description: "Milliseconds from the session's start.", examples: [120] }),
  endMs: Schema.Int.annotate({ description: "Milliseconds from the session's start.", examples: [480] }),
  confidence: Schema.NullOr(Schema.Finite).annotate({ description: "0 to 1; null when not known.", examples: [0.97] })
})

/** The times of a recognized phrase and of its words. */
export const phraseTimes = {
  startedAt: Field.time("When the phrase began."),
  endedAt: Field.time("When it ended.", "2026-01-01T00:00:01.000Z"),
  words: Schema.Array(Word).pipe(
    Schema.annotateEncoded({
      description: "Each word with its time; empty when the recognizer gives none.",
      examples: [[{ word: "hello", start_ms: 120, end_ms: 480, confidence: 0.97 }]]
    })
  )
}

export const rows = {
  "call.started": {
    when: "A call was created, outbound or inbound.",
    data: Wire.struct({
      ...ofCall,
      from: Field.text("The calling number, E.164.", "+12025550150"),
      to: Field.text("The called number, E.164.", "+12025550100"),
      direction: Field.oneOf("As this service sees it.", ["outbound", "inbound"]),
      routeId: Field.routeId,
      customHeaders: Schema.Array(
        Wire.struct({ name: Field.text("Begins with `X-`.", "X-Customer"), value: Field.text("Its value.", "4711") })
      ).pipe(
        Schema.annotateEncoded({
          description: "The caller's own `X-` headers, of an inbound call; empty where there are none.",
          examples: [[{ name: "X-Customer", value: "4711" }]]
        })
      ),
      callerName: Schema.optionalKey(CallerReport.fields.callerName),
      diversion: Schema.optionalKey(CallerReport.fields.diversion),
      attestation: Schema.optionalKey(CallerReport.fields.attestation)
    })
  },
  "call.ringing": {
    when: "The far end is being alerted.",
    data: Wire.struct({ ...ofCall, ringingAt: Field.time("When alerting began.") })
  },
  "call.answered": {
    when: "The call was answered.",
    data: Wire.struct({ ...ofCall, answeredAt: Field.time("When it was answered.") })
  },
  "call.bridged": {
    when: "The call was bridged to another leg, or has come into a conference.",
    data: Wire.struct({
      ...ofCall,
      bridgedCallId: Field.callIdOrNull("The other call; null for a leg of this call."),
      bridgedLegId: Field.legIdOrNull("The other leg; null in a conference."),
      conferenceId: Field.conferenceBridgedOrNull,
      bridgedAt: Field.time("When they were bridged.")
    })
  },
  "call.ended": {
    when: "The call ended, answered or not. It is the last event of a call's own work.",
    data: Wire.struct({
      ...ofCall,
      status: Field.oneOf("`failed`: it ended by what went wrong before an answer or by a refusal.", [
        "ended",
        "failed"
      ]),
      endedAt: Field.time("When it ended.", "2026-01-01T00:01:01.000Z"),
      durationSeconds: Field.seconds("From answer to end, each started second; 0 without an answer."),
      endReason: endReason,
      endInitiator: endInitiator,
      why: EndWhy.field,
      ...LegReport.fields
    })
  },
  "call.transfer_failed": {
    when: "The leg that a transfer dialled was not connected; the call goes on without it.",
    data: Wire.struct({
      ...ofCall,
      legId: Field.legId("The leg that was dialled."),
      endReason: endReason,
      why: EndWhy.field,
      sipStatus: LegReport.fields.sipStatus,
      failedAt: Field.time("When it failed.")
    })
  },
  "call.bridge_failed": {
    when: "The legs of a `bridge` were not joined.",
    data: Wire.struct({
      ...ofCall,
      bridgedLegId: Field.legId("The other leg."),
      reason: Field.oneOf("What went wrong. Further values may come.", [
        "leg_ended",
        "call_ended",
        "timeout",
        "carrier_error"
      ]),
      failedAt: Field.time("When it failed.")
    })
  },
  "call.refer_completed": {
    when: "The far end was connected with the address that it was referred to.",
    data: Wire.struct({
      ...ofCall,
      sipStatus: Schema.NullOr(Schema.Int).annotate({
        description: "What the far end reported; null: it hung up without a report.",
        examples: [200]
      }),
      completedAt: Field.time("When it said so.")
    })
  },
  "call.refer_failed": {
    when: "The far end was not connected with the address that it was referred to; the call goes on.",
    data: Wire.struct({
      ...ofCall,
      sipStatus: Schema.NullOr(Schema.Int).annotate({
        description: "What the far end answered or reported; null: nothing.",
        examples: [603]
      }),
      reason: Field.oneOf(
        "`rejected`: the far end did not take it; `failed`: it took it, and was not connected. Further values may come.",
        ["rejected", "failed", "timeout", "call_ended", "carrier_error", "service_restarted"]
      ),
      failedAt: Field.time("When it failed.")
    })
  },
  "call.dtmf": {
    when: "The far end pressed a digit.",
    data: Wire.struct({
      ...ofCall,
      digit: Secret.digits(
        Schema.String.check(Schema.isPattern(/^[0-9A-D*#]$/u)).annotate({
          description: "One of `0-9 A-D * #`.",
          examples: ["5"]
        })
      ),
      receivedAt: Field.time("When it was received.")
    })
  },
  "call.gather_complete": {
    when: "A gather ended, with or without digits.",
    data: Wire.struct({
      ...ofCall,
      digits: Secret.digits(Field.text("What was collected, without the terminating digit; may be empty.", "1234")),
      status: gatherStatus,
      completedAt: Field.time("When it ended.")
    })
  },
  "call.playback_ended": {
    when: "A playback ended: it was played to its end, was stopped, or could not be played.",
    data: Wire.struct({
      ...ofCall,
      playbackId: Field.text("What `play` answered.", "0123456789abcdef0123456789abcdef"),
      status: playbackStatus,
      reason: Field.textOrNull("Why it did not play to its end; null when it did.", null),
      endedAt: Field.time("When it ended.")
    })
  },
  "call.speak_ended": {
    when: "Speech ended: it was spoken to its end, was stopped, or could not be spoken.",
    data: Wire.struct({
      ...ofCall,
      speakId: Field.text("Of this speech.", "0123456789abcdef0123456789abcdef"),
      status: playbackStatus,
      reason: Field.textOrNull("Why it was not spoken to its end; null when it was.", null),
      endedAt: Field.time("When it ended.")
    })
  },
  "call.amd_complete": {
    when: "Machine detection has a result. It is sent again when a beep is heard later.",
    data: Wire.struct({
      ...ofCall,
      result: Field.oneOf("Who answered.", ["human", "machine", "unknown"]),
      detail: Field.oneOf("The same more finely: a `machine` may be a `fax`.", answeredBy),
      beepDetected: Schema.Boolean.annotate({ description: "A voicemail's beep was heard.", examples: [false] })
    })
  },
  "call.transcript_chunk": {
    when: "A phrase was recognized and will not change any more.",
    data: Wire.struct({
      ...ofCall,
      transcriptionId: Field.transcriptionId,
      track: Field.oneOf("Who said it: `inbound` is the far end of the leg, `outbound` is what it hears.", [
        "inbound",
        "outbound"
      ]),
      transcript: Secret.text(Field.text("The phrase.", "hello")),
      confidence: Schema.NullOr(Schema.Finite).annotate({
        description: "0 to 1; null when not known.",
        examples: [0.97]
      }),
      isFinal: Schema.Boolean.annotate({ description: "Always true.", examples: [true] }),
      ...phraseTimes
    })
  }
} as const satisfies Family<"call">
