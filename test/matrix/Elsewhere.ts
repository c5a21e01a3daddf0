/**
 * Facts of the contract that another test shows, because a carrier cannot show them by itself, they take longer than a
 * row may, or only a fault of the service or of its surroundings causes them.
 */
export interface Elsewhere {
  readonly facts: ReadonlyArray<string>
  /** Absent: both carriers. */
  readonly only?: "simulator" | "sip"
  /** The test: its file under `test/`, and a part of its title, or its row in the table of such tests. */
  readonly file: string
  readonly title: string
  /** A text in that test, which shows the facts. */
  readonly shows: string
}

const machine = "telephony/call/machine/CallMachine.test.ts"
const bridging = "telephony/call/machine/leg/Bridging.test.ts"
const referral = "telephony/call/machine/leg/Referral.test.ts"

export const all: ReadonlyArray<Elsewhere> = [
  // A simulated phone rings 200 ms after it was dialled, and a tenant's number rings at once.
  {
    facts: [
      "answer initiated call_not_in_required_state",
      "reject initiated call_not_in_required_state",
      ..."transfer bridge refer play stop_playback speak start_recording stop_recording pause_recording".split(" "),
      ..."resume_recording send_dtmf gather gather_using_speak gather_using_audio stop_gather streaming_start".split(
        " "
      ),
      ..."streaming_stop transcription_start transcription_stop".split(" ")
    ].map((fact) => (fact.includes(" ") ? fact : `${fact} initiated call_not_in_required_state`)),
    only: "simulator",
    file: "matrix/Contract.test.ts",
    title: "are refused by the machine while a call is initiated, where they are not valid then",
    shows: 'Contract.refusal("initiated")'
  },
  {
    facts: ["hangup initiated 200"],
    only: "simulator",
    file: machine,
    title: "hangup before the answer cancels",
    shows: "ended cancelled api"
  },
  // It takes a minute.
  {
    facts: ["call.ended.end_reason=media_timeout"],
    file: machine,
    title: "a leg that leaves by itself ends its call at once",
    shows: "ended media_timeout system"
  },
  // Only SIP can report these.
  {
    facts: ["call.ended.end_reason=no_answer"],
    only: "simulator",
    file: machine,
    title: "an offered call rings and waits thirty seconds for a first command",
    shows: "failed no_answer system"
  },
  {
    facts: ["call.ended.end_reason=not_found"],
    only: "simulator",
    file: machine,
    title: 'sipStatus: 404, by: "far" }',
    shows: "failed not_found carrier"
  },
  {
    facts: ["call.ended.quality", "call.ended.sip_reason"],
    only: "simulator",
    file: machine,
    title: "the end of a leg tells how it sounded and why the far end ended it",
    shows: "toMatchObject({ sipReason: peerReason, quality })"
  },
  // The far ends of the rows send neither a name nor an attestation.
  {
    facts: ["call.started.caller_name", "call.started.attestation"],
    file: machine,
    title: "what is known of a caller is kept, and told with call.started",
    shows: "data).toMatchObject(caller)"
  },
  // Over SIP nothing is placed without a trunk, whose route was checked before.
  {
    facts: ["call.ended.end_reason=no_route"],
    only: "sip",
    file: "carrier/sip/leg/dial/OutboundLeg.test.ts",
    title: "ends as no_route without a trunk",
    shows: "ended no_route - network"
  },
  {
    facts: ["call.ended.end_reason=no_route"],
    only: "sip",
    file: machine,
    title: 'cause: "no_route"',
    shows: "failed no_route carrier"
  },
  // A phone over SIP would have to speak like a person, and those of this suite cannot.
  {
    facts: ["call.amd_complete.result=human"],
    only: "sip",
    file: "telephony/call/verb/MachineDetection.test.ts",
    title: '["human_residence", "human"]',
    shows: "expect(events(scene)).toEqual([result])"
  },
  {
    facts: ["error rate_limited"],
    only: "simulator",
    file: "numbers/trunk/TrunkCapacity.test.ts",
    title: "bounds what a SIP trunk places where the operator set nothing, and nothing of what we place or simulate",
    shows: 'adapter: "simulator"'
  },
  // A reservation takes a minute to end.
  {
    facts: ["call.ended.end_reason=balance_exhausted"],
    file: "telephony/call/machine/Reservation.test.ts",
    title: "without an answer, or refused, it asks again until its reserved end, and is over then",
    shows: "ended balance_exhausted system"
  },
  // Events between a request and its outcome, and unanswered requests. Each event there is checked against its row.
  {
    facts: [
      "call.bridge_failed",
      ...["call_id", "leg_id", "customer_reference", "bridged_leg_id", "reason", "failed_at"].map(
        (field) => `call.bridge_failed.${field}`
      ),
      "call.bridge_failed.reason=timeout"
    ],
    file: bridging,
    title: "whose outcome never comes has failed after forty seconds",
    shows: 'type: "call.bridge_failed", data: { reason: "timeout" }'
  },
  {
    facts: ["call.bridge_failed.reason=leg_ended"],
    file: bridging,
    title: "the other leg ended meanwhile",
    shows: '"leg_ended"'
  },
  {
    facts: ["call.bridge_failed.reason=carrier_error"],
    file: bridging,
    title: "the carrier cannot join them",
    shows: '"carrier_error"'
  },
  {
    facts: ["call.bridge_failed.reason=call_ended"],
    file: bridging,
    title: "that is under way when the call ends is told before call.ended",
    shows: 'reason: "call_ended"'
  },
  ...["timeout", "service_restarted"].map((reason) => ({
    facts: [`call.refer_failed.reason=${reason}`],
    file: referral,
    title: "has failed when nobody answers it, the call ends first, or the carrier has forgotten it",
    shows: `${reason} null`
  })),
  {
    facts: ["call.refer_failed.reason=carrier_error"],
    file: referral,
    title: "has failed where the carrier cannot carry it out",
    shows: "carrier_error null"
  },
  // These need a full disk, an encoder that dies, a carrier without media, or a process that died.
  {
    facts: [
      "recording.failed",
      ...["call_id", "recording_id", "channels", "format", "customer_reference", "reason", "failed_at"].map(
        (field) => `recording.failed.${field}`
      ),
      "recording.failed.reason=storage_error"
    ],
    file: "telephony/call/verb/Recording.test.ts",
    title: '["storage_error", "storage_error"]',
    shows: 'type: "recording.failed", data: { reason: shown }'
  },
  ...(
    [
      ["unsupported", '["unsupported", "unsupported"]'],
      ["internal_error", '["lost", "internal_error"]']
    ] as const
  ).map(([reason, title]) => ({
    facts: [`recording.failed.reason=${reason}`],
    file: "telephony/call/verb/Recording.test.ts",
    title,
    shows: 'type: "recording.failed", data: { reason: shown }'
  })),
  {
    facts: ["stream.failed.failure_reason=carrier_error"],
    file: "telephony/call/verb/Streaming.test.ts",
    title: "has failed after a restart where the leg lives on",
    shows: 'failureReason: "carrier_error"'
  },
  {
    facts: ["error recording_not_ready"],
    file: "telephony/recording/Recording.test.ts",
    title: "are not ready when archived, expired or failed",
    shows: '"recording_not_ready"'
  },
  {
    facts: ["error auto_recharge_failed"],
    file: "edge/http/payment/Payments.integration.test.ts",
    title: "that is declined waits, and refuses calls by its own code only when the balance is used up",
    shows: '"auto_recharge_failed"'
  },
  {
    facts: ["error internal_error"],
    file: "edge/http/Edge.test.ts",
    title: "answers a defect with 500 internal_error",
    shows: '[500, "internal_error"]'
  },
  {
    facts: ["error service_unavailable"],
    file: "edge/http/Edge.test.ts",
    title: "answers 503 without Retry-After",
    shows: '[503, "service_unavailable"]'
  }
]

/** Codes of the catalogue that no request about a call raises, because a dial is answered first. */
export const unraised: ReadonlyArray<string> = ["error upstream_error"]
