/**
 * Facts of the contract that another test shows: what a carrier cannot do by itself, what takes longer than a row
 * may, and what only a fault of the service or of its surroundings brings about.
 */
export interface Elsewhere {
  readonly facts: ReadonlyArray<string>
  /** Absent: on both carriers. */
  readonly only?: "simulator" | "sip"
  /** The test: its file under `test/`, and a part of its title. */
  readonly file: string
  readonly title: string
}

const machine = "call/CallMachine.test.ts"

export const all: ReadonlyArray<Elsewhere> = [
  // A simulated phone rings 200 ms after it was dialled, and the number of a tenant at once.
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
    title: "are refused by the machine while a call is initiated, where they are not valid then"
  },
  { facts: ["hangup initiated 200"], only: "simulator", file: machine, title: "hangup before the answer cancels" },
  // What SIP alone can say.
  {
    facts: ["call.ended.end_reason=no_answer"],
    only: "simulator",
    file: machine,
    title: "an offered call rings and waits thirty seconds for a first command"
  },
  {
    facts: ["call.ended.end_reason=not_found"],
    only: "simulator",
    file: machine,
    title: 'sipStatus: 404, by: "far" }, is: "failed not_found carrier"'
  },
  {
    facts: ["call.ended.end_reason=no_route"],
    only: "sip",
    file: "carrier/sip/leg/OutboundLeg.test.ts",
    title: "ends as no_route without a trunk"
  },
  {
    facts: ["call.ended.quality", "call.ended.sip_reason"],
    only: "simulator",
    file: "carrier/sip/leg/EndQuality.test.ts",
    title: "says how both directions sounded"
  },
  {
    facts: ["call.amd_complete.result=human"],
    only: "sip",
    file: "media/detect/Detection.test.ts",
    title: "tells who answered, the beep, and its end, once, however often it was asked"
  },
  {
    facts: ["error rate_limited"],
    only: "simulator",
    file: "operator/route/Route.test.ts",
    title: "have limits, of calls at once and of new calls a second"
  },
  // It takes a minute until a reservation ends.
  {
    facts: ["call.ended.end_reason=balance_exhausted"],
    file: "call/Reservation.test.ts",
    title: "without an answer, or refused, it asks again until its reserved end, and is over then"
  },
  // What happens between a request and its outcome, and what nobody answers.
  {
    facts: [
      "call.bridge_failed",
      ...["call_id", "leg_id", "customer_reference", "bridged_leg_id", "reason", "failed_at"].map(
        (field) => `call.bridge_failed.${field}`
      ),
      ...["leg_ended", "call_ended", "timeout", "carrier_error"].map((reason) => `call.bridge_failed.reason=${reason}`)
    ],
    file: "call/leg/Bridging.test.ts",
    title: "whose outcome never comes has failed after forty seconds"
  },
  {
    facts: ["timeout", "carrier_error", "service_restarted"].map((reason) => `call.refer_failed.reason=${reason}`),
    file: "call/leg/Referral.test.ts",
    title: "has failed when nobody answers it, the call ends first, or the carrier has forgotten it"
  },
  // A disk that is full, an encoder that dies, a carrier without media, a process that died.
  {
    facts: [
      "recording.failed",
      ...["call_id", "recording_id", "channels", "format", "customer_reference", "reason", "failed_at"].map(
        (field) => `recording.failed.${field}`
      ),
      ...["storage_error", "internal_error", "unsupported"].map((reason) => `recording.failed.reason=${reason}`)
    ],
    file: "recording/Recorder.test.ts",
    title: "tells once that it failed when the disk is full, and leaves nothing there; others go on"
  },
  {
    facts: ["stream.failed.failure_reason=carrier_error"],
    file: "call/Streaming.test.ts",
    title: "has failed after a restart where the leg lives on"
  },
  {
    facts: ["error recording_not_ready"],
    file: "recording/Recording.test.ts",
    title: "are not ready when archived, expired or failed"
  },
  { facts: ["error internal_error"], file: "http/Edge.test.ts", title: "answers a defect with 500 internal_error" },
  { facts: ["error service_unavailable"], file: "http/Edge.test.ts", title: "answers 503 without Retry-After" }
]

/** Codes of the catalogue that nothing of a call raises: there is no automatic recharge yet, and a dial answers first. */
export const unraised: ReadonlyArray<string> = ["error auto_recharge_failed", "error upstream_error"]
