/** The promises of the API about calls, as tables: the facts that the rows must show, on each carrier. */

/** A state of a call for verbs; `offered` is an inbound call that is not answered. */
export type State = "initiated" | "ringing" | "offered" | "answered" | "bridged" | "ended" | "failed"
export const states: ReadonlyArray<State> = [
  "initiated",
  "ringing",
  "offered",
  "answered",
  "bridged",
  "ended",
  "failed"
]

const talking: ReadonlyArray<State> = ["answered", "bridged"]
const live: ReadonlyArray<State> = ["initiated", "ringing", "offered", "answered", "bridged"]

interface Verb {
  /** The states in which it is valid. */
  readonly in: ReadonlyArray<State>
  /** A valid body. */
  readonly body: Readonly<Record<string, unknown>>
  /** Its fields, with each value of those that have a few. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string | boolean>>>
  /** The default of each optional field, in the body's own names. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** For fields with a range: values at its edges, and values beyond them. */
  readonly ranges?: Readonly<
    Record<string, { readonly good: ReadonlyArray<unknown>; readonly bad: ReadonlyArray<unknown> }>
  >
}

const int = (low: number, high: number) => ({
  good: [low, high],
  bad: [low - 1, high + 1, low + 0.5, String(low), null]
})
const text = (most: number) => ({ good: ["x", "x".repeat(most)], bad: ["", "x".repeat(most + 1), 7] })
const oneOf = (...values: ReadonlyArray<unknown>) => ({ good: values, bad: ["other", 7] })
const flag = { good: [true, false], bad: ["true", 1] }
const url = {
  good: ["https://example.com/a.wav"],
  bad: ["http://example.com/a.wav", "nowhere", "https://a:b@example.com/", 7]
}
const headers = {
  good: [[], Array.from({ length: 20 }, (_, index) => ({ name: `X-${index}`, value: "v".repeat(1000) }))],
  bad: [
    [{ name: "Via", value: "1" }],
    Array.from({ length: 21 }, (_, index) => ({ name: `X-${index}`, value: "v" })),
    "X"
  ]
}
const number = {
  good: ["+4912345", "+878101234567890"],
  bad: ["4912345", "+12345", "+1234567890123456", "+49 12345", "+005352123456", "+10115352123456", "+999123456", 7]
}

const digits = {
  fields: {
    minimum_digits: [],
    maximum_digits: [],
    terminating_digit: [],
    valid_digits: [],
    timeout_millis: [],
    inter_digit_timeout_millis: [],
    initial_timeout_millis: []
  },
  defaults: {
    minimumDigits: 1,
    maximumDigits: 128,
    terminatingDigit: "#",
    validDigits: "0123456789#*",
    timeoutMs: 60_000,
    interDigitTimeoutMs: 5000,
    initialTimeoutMs: 5000
  },
  ranges: {
    minimum_digits: int(1, 128),
    maximum_digits: int(1, 128),
    terminating_digit: { good: ["", "0", "9", "*", "#"], bad: ["##", "A", 1] },
    valid_digits: { good: ["1", "0123456789#*"], bad: ["", "A", 1] },
    timeout_millis: int(1000, 600_000),
    inter_digit_timeout_millis: int(100, 60_000),
    initial_timeout_millis: int(100, 600_000)
  }
}

const stream = {
  stream_track: ["inbound_track", "outbound_track", "both_tracks"],
  stream_codec: ["PCMU", "PCMA", "G722", "OPUS", "L16"],
  stream_bidirectional_mode: ["rtp", "mp3"],
  stream_bidirectional_codec: [],
  stream_bidirectional_sampling_rate: [],
  stream_jitter_ms: [],
  stream_reconnect_secs: [],
  stream_protocol: ["telnyx", "twilio"],
  stream_auth_token: [],
  custom_parameters: []
}
const streamDefaults = {
  streamTrack: "inbound_track",
  streamCodec: null,
  streamBidirectionalMode: null,
  streamBidirectionalCodec: null,
  streamBidirectionalSamplingRate: null,
  streamJitterMs: null,
  streamReconnectSecs: 0,
  streamProtocol: "telnyx",
  streamAuthToken: null,
  customParameters: []
}
const streamRanges = {
  stream_track: oneOf(...stream.stream_track),
  stream_codec: oneOf(...stream.stream_codec, null),
  stream_bidirectional_mode: oneOf("rtp", "mp3", null),
  stream_jitter_ms: { good: [60, 2000, null], bad: [59, 2001, 100.5, "100"] },
  stream_reconnect_secs: { good: [0, 60], bad: [-1, 61, 1.5, "1", null] },
  stream_protocol: oneOf("telnyx", "twilio"),
  stream_auth_token: { good: ["x", null], bad: ["", "x".repeat(4001), 7] },
  custom_parameters: {
    good: [[], Array.from({ length: 50 }, (_, index) => ({ name: `n${index}`, value: "v" }))],
    bad: [Array.from({ length: 51 }, (_, index) => ({ name: `n${index}`, value: "v" })), [{ name: "n" }], "n"]
  }
}
const wss = {
  good: ["wss://example.com/audio?token=7"],
  bad: ["ws://example.com/", "https://example.com/", "nowhere", "wss://a:b@example.com/", 7]
}

const speech = {
  fields: { payload: [], voice: [], language: [], payload_type: ["text"] },
  defaults: { language: null, payloadType: "text" },
  ranges: {
    payload: text(2000),
    language: { good: ["en", "en-US", null], bad: ["english language", "", 7] },
    payload_type: { good: ["text"], bad: ["html", 7] }
  }
}

const recordChannels = ["single", "dual"]
const recordFormat = ["mp3", "wav"]
const none = { in: talking, body: {}, fields: {}, defaults: {} } as const

/** The verbs, guide/calls.md#actions. */
export const verbs: Readonly<Record<string, Verb>> = {
  answer: {
    in: ["offered"],
    body: {},
    fields: {
      record: ["off", "on_answer", "record-from-answer"],
      record_channels: recordChannels,
      record_format: recordFormat,
      custom_headers: [],
      stream_url: [],
      stream_track: [],
      stream_codec: []
    },
    defaults: { recordChannels: "single", recordFormat: "mp3", streamUrl: null, ...streamDefaults },
    ranges: {
      record: oneOf("off", "on_answer", "record-from-answer"),
      record_channels: oneOf(...recordChannels),
      record_format: oneOf(...recordFormat),
      custom_headers: headers,
      stream_url: { good: [...wss.good, null], bad: wss.bad },
      ...streamRanges
    }
  },
  reject: {
    in: ["offered"],
    body: { cause: "user_busy" },
    fields: { cause: ["user_busy", "rejected"] },
    defaults: {},
    ranges: { cause: oneOf("user_busy", "rejected") }
  },
  hangup: { ...none, in: live },
  transfer: {
    in: talking,
    body: { to: "+12025550116" },
    fields: { to: [], from: [], timeout_secs: [], custom_headers: [] },
    defaults: { timeoutSecs: 60 },
    ranges: { to: number, from: number, timeout_secs: int(1, 600), custom_headers: headers }
  },
  bridge: {
    in: ["answered"],
    body: { leg_id: `svc_leg_${"0".repeat(32)}` },
    fields: { leg_id: [] },
    defaults: {},
    ranges: { leg_id: { good: [`svc_leg_${"1".repeat(32)}`], bad: ["svc_leg_1", `svc_call_${"1".repeat(32)}`, 7] } }
  },
  refer: {
    in: ["answered"],
    body: { sip_address: "sip:somebody@example.com" },
    fields: { sip_address: [], custom_headers: [] },
    defaults: {},
    ranges: {
      sip_address: {
        good: ["sip:somebody@example.com", "sips:example.com"],
        bad: ["bob", "tel:+123456", "sip:a@b?Subject=x", `sip:${"a".repeat(512)}@b`, 7]
      },
      custom_headers: headers
    }
  },
  play: {
    in: talking,
    body: { url: "https://example.com/a.wav" },
    // `opposite` and `both`: see `elsewhere`.
    fields: { url: [], loop: [], target_legs: ["self", "opposite", "both"] },
    defaults: { loop: 1, targetLegs: "self" },
    ranges: { url, loop: int(1, 100), target_legs: { good: ["self"], bad: ["all", 7] } }
  },
  stop_playback: {
    in: talking,
    body: {},
    fields: { stop: ["current", "all"] },
    defaults: { stop: "all" },
    ranges: { stop: oneOf("current", "all") }
  },
  speak: { in: talking, body: { payload: "hello", voice: "openai.alloy" }, ...speech },
  start_recording: {
    in: ["answered"],
    body: {},
    fields: {
      channels: recordChannels,
      format: recordFormat,
      max_length: [],
      play_beep: [true, false],
      beep_interval_seconds: [],
      finish_on_key: [],
      silence_timeout_seconds: [],
      trim: ["trim-silence"]
    },
    defaults: { hasBeep: false },
    ranges: {
      channels: oneOf(...recordChannels),
      format: oneOf(...recordFormat),
      max_length: int(1, 14_400),
      play_beep: flag,
      beep_interval_seconds: int(5, 300),
      silence_timeout_seconds: int(1, 600),
      trim: oneOf("trim-silence")
    }
  },
  stop_recording: none,
  pause_recording: none,
  resume_recording: none,
  send_dtmf: {
    in: talking,
    body: { digits: "1" },
    fields: { digits: [], duration_millis: [] },
    defaults: { durationMs: 250 },
    ranges: {
      digits: { good: ["0123456789*#ABCDwW", "1".repeat(64)], bad: ["", "1".repeat(65), "E", "1 2", 1] },
      duration_millis: int(100, 500)
    }
  },
  gather: { in: talking, body: {}, ...digits },
  gather_using_speak: {
    in: talking,
    body: { payload: "hello", voice: "openai.alloy" },
    fields: { ...speech.fields, ...digits.fields, invalid_payload: [], maximum_tries: [] },
    defaults: { ...speech.defaults, ...digits.defaults, maximumTries: 3 },
    ranges: { ...speech.ranges, ...digits.ranges, invalid_payload: text(2000), maximum_tries: int(1, 10) }
  },
  gather_using_audio: {
    in: talking,
    body: { audio_url: "https://example.com/a.wav" },
    fields: { ...digits.fields, audio_url: [], invalid_audio_url: [], maximum_tries: [] },
    defaults: { ...digits.defaults, maximumTries: 3 },
    ranges: { ...digits.ranges, audio_url: url, invalid_audio_url: url, maximum_tries: int(1, 10) }
  },
  stop_gather: none,
  streaming_start: {
    in: talking,
    body: { stream_url: "wss://example.com/" },
    fields: { stream_url: [], ...stream },
    defaults: streamDefaults,
    ranges: { stream_url: wss, ...streamRanges }
  },
  streaming_stop: {
    ...none,
    fields: { stream_id: [] },
    defaults: { streamId: null },
    ranges: {
      stream_id: { good: [`svc_stream_${"1".repeat(32)}`, null], bad: ["7", `svc_call_${"1".repeat(32)}`, 7] }
    }
  },
  transcription_start: {
    in: talking,
    body: {},
    fields: { language: [], engine: ["fast", "accurate"], transcription_tracks: ["inbound", "outbound", "both"] },
    defaults: { language: "en", engine: "fast", tracks: "inbound" },
    ranges: {
      language: { good: ["en", "de-DE"], bad: ["english language", "", 7] },
      engine: oneOf("fast", "accurate"),
      transcription_tracks: oneOf("inbound", "outbound", "both")
    }
  },
  transcription_stop: none
}

/** guide/calls.md#placing-a-call: fields, with each value of those that have a few. */
export const placement: Pick<Verb, "fields" | "ranges"> & { readonly ranges: NonNullable<Verb["ranges"]> } = {
  fields: {
    from: [],
    to: [],
    route_id: [],
    record: ["off", "on_answer", "on_ringing", "on_demand"],
    record_channels: recordChannels,
    record_format: recordFormat,
    customer_reference: [],
    answering_machine_detection: ["off", "premium"],
    audio_url: [],
    timeout_secs: [],
    time_limit_secs: [],
    caller_id_forwarding: [true],
    custom_headers: []
  },
  ranges: {
    from: number,
    to: number,
    record: oneOf("off", "on_answer", "on_ringing", "on_demand"),
    record_channels: oneOf(...recordChannels),
    record_format: oneOf(...recordFormat),
    customer_reference: { good: ["", "x".repeat(128), "é".repeat(128), null], bad: ["x".repeat(129), 7] },
    answering_machine_detection: oneOf("off", "premium"),
    audio_url: url,
    timeout_secs: int(1, 600),
    time_limit_secs: { good: [1, 86_400, null], bad: [0, 86_401, 1.5, "1"] },
    caller_id_forwarding: flag,
    custom_headers: headers
  }
}

const ofCall = ["call_id", "leg_id", "customer_reference"]
const ofStream = [...ofCall, "stream_id", "stream_url", "stream_track", "stream_codec"]
const ofRecording = ["call_id", "recording_id", "channels", "format", "customer_reference"]

/** guide/webhooks.md#events of calls, recordings and streams: the data of each, and the values of fields with a few. */
export const events: Readonly<
  Record<
    string,
    {
      readonly data: ReadonlyArray<string>
      readonly values?: Readonly<Record<string, ReadonlyArray<string | boolean>>>
    }
  >
> = {
  "call.started": {
    data: [
      ...ofCall,
      "from",
      "to",
      "direction",
      "route_id",
      "custom_headers",
      "caller_name",
      "diversion",
      "attestation"
    ],
    values: { direction: ["outbound", "inbound"] }
  },
  "call.ringing": { data: [...ofCall, "ringing_at"] },
  "call.answered": { data: [...ofCall, "answered_at"] },
  "call.bridged": { data: [...ofCall, "bridged_call_id", "bridged_leg_id", "bridged_at"] },
  "call.ended": {
    data: [
      ...ofCall,
      "status",
      "ended_at",
      "duration_seconds",
      "end_reason",
      "end_initiator",
      "why",
      "sip_status",
      "sip_reason",
      "quality"
    ],
    values: {
      status: ["ended", "failed"],
      end_reason: [
        "normal_clearing",
        "cancelled",
        "no_answer",
        "timeout",
        "time_limit",
        "user_busy",
        "rejected",
        "not_found",
        "no_route",
        "balance_exhausted",
        "tenant_suspended",
        "media_timeout",
        "carrier_error"
      ],
      end_initiator: ["caller", "callee", "api", "system", "carrier"]
    }
  },
  "call.transfer_failed": {
    data: [...ofCall, "end_reason", "why", "sip_status", "failed_at"],
    values: { end_reason: ["user_busy", "timeout", "rejected", "cancelled"] }
  },
  "call.bridge_failed": {
    data: [...ofCall, "bridged_leg_id", "reason", "failed_at"],
    values: { reason: ["leg_ended", "call_ended", "timeout", "carrier_error"] }
  },
  "call.refer_completed": { data: [...ofCall, "sip_status", "completed_at"] },
  "call.refer_failed": {
    data: [...ofCall, "sip_status", "reason", "failed_at"],
    values: { reason: ["rejected", "failed", "timeout", "call_ended", "carrier_error", "service_restarted"] }
  },
  "call.dtmf": { data: [...ofCall, "digit", "received_at"] },
  "call.gather_complete": {
    data: [...ofCall, "digits", "status", "completed_at"],
    values: { status: ["valid", "invalid", "timeout", "cancelled", "call_ended"] }
  },
  "call.playback_ended": {
    data: [...ofCall, "playback_id", "status", "reason", "ended_at"],
    values: { status: ["completed", "stopped", "failed"], reason: ["call_ended", "http_404", "unsupported_format"] }
  },
  "call.speak_ended": {
    data: [...ofCall, "speak_id", "status", "reason", "ended_at"],
    values: { status: ["completed", "stopped", "failed"], reason: ["call_ended", "speech_failed"] }
  },
  "call.amd_complete": {
    data: [...ofCall, "result", "detail", "beep_detected"],
    values: { result: ["human", "machine", "unknown"], beep_detected: [true, false] }
  },
  "call.transcript_chunk": {
    data: [
      ...ofCall,
      "transcription_id",
      "track",
      "transcript",
      "confidence",
      "is_final",
      "started_at",
      "ended_at",
      "words"
    ],
    values: { track: ["inbound", "outbound"], is_final: [true] }
  },
  "recording.completed": {
    data: [...ofRecording, "duration_seconds", "download_url"],
    values: { channels: ["single", "dual"], format: ["mp3", "wav"] }
  },
  "recording.failed": {
    data: [...ofRecording, "reason", "failed_at"],
    values: { reason: ["storage_error", "internal_error", "unsupported"] }
  },
  "stream.started": { data: [...ofStream, "started_at"] },
  "stream.stopped": { data: [...ofStream, "stopped_at", "duration_seconds"] },
  "stream.failed": {
    data: [...ofStream, "failure_reason", "failed_at"],
    values: { failure_reason: ["connection_failed", "protocol_error", "carrier_error"] }
  }
}

/** guide/errors.md#codes that may answer a request about a call or a recording. */
export const errors: ReadonlyArray<string> = [
  "authentication_required",
  "invalid_credentials",
  "forbidden",
  "tenant_suspended",
  "balance_insufficient",
  "daily_spend_cap_exceeded",
  "monthly_spend_cap_exceeded",
  "concurrent_call_cap_exceeded",
  "auto_recharge_failed",
  "from_number_not_owned",
  "caller_id_forwarding_not_allowed",
  "country_blocked",
  "country_not_allowed",
  "prefix_blocked",
  "call_already_ended",
  "call_not_in_required_state",
  "recording_not_ready",
  "idempotency_conflict",
  "idempotency_key_too_long",
  "unprocessable",
  "recording_already_stopped",
  "streaming_already_active",
  "streaming_not_found",
  "transcription_already_active",
  "transcription_not_active",
  "invalid_request",
  "not_found",
  "method_not_allowed",
  "conflict",
  "rate_limited",
  "internal_error",
  "upstream_error",
  "service_unavailable"
]

/** Every fact that the rows must show, in the form of `Seen.ts`. */
export const facts = (): ReadonlyArray<string> => {
  const fieldsOf = (of: string, fields: Verb["fields"]) =>
    Object.entries(fields).flatMap(([name, values]) => [
      `${of}.${name}`,
      ...values.map((value) => `${of}.${name}=${String(value)}`)
    ])
  const ofVerbs = Object.entries(verbs).flatMap(([verb, { fields, in: valid }]) => [
    ...states.map((state) => `${verb} ${state} ${valid.includes(state) ? "200" : refusal(state)}`),
    ...fieldsOf(verb, fields)
  ])
  const ofEvents = Object.entries(events).flatMap(([type, { data, values = {} }]) => [
    type,
    ...data.map((field) => `${type}.${field}`),
    ...Object.entries(values).flatMap(([field, each]) => each.map((value) => `${type}.${field}=${String(value)}`))
  ])
  return [...ofVerbs, ...fieldsOf("place", placement.fields), ...ofEvents, ...errors.map((code) => `error ${code}`)]
}

/** The answer of a verb in a state in which it is not valid. */
export const refusal = (state: State): string =>
  state === "ended" || state === "failed" ? "call_already_ended" : "call_not_in_required_state"
