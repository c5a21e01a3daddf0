/** The promises of the API about conferences, as tables: the facts that the rows must show, on each carrier. */

export type State = "init" | "in_progress" | "completed"
export const states: ReadonlyArray<State> = ["init", "in_progress", "completed"]

type Ranges = Readonly<Record<string, { readonly good: ReadonlyArray<unknown>; readonly bad: ReadonlyArray<unknown> }>>

interface Verb {
  /** A body that is accepted for a present participant. */
  readonly body: Readonly<Record<string, unknown>>
  /** Its fields, with each value of those that have a few. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string | boolean>>>
  readonly defaults: Readonly<Record<string, unknown>>
  readonly ranges: Ranges
}

const int = (low: number, high: number) => ({
  good: [low, high],
  bad: [low - 1, high + 1, low + 0.5, String(low), null]
})
const oneOf = (...values: ReadonlyArray<unknown>) => ({ good: values, bad: ["other", 7] })
const flag = { good: [true, false], bad: ["true", 1] }
const text = (most: number) => ({ good: ["x", "é".repeat(most)], bad: ["", "x".repeat(most + 1), 7] })
const url = {
  good: ["https://example.com/a.wav"],
  bad: ["http://example.com/a.wav", "nowhere", "https://a:b@example.com/", 7]
}
const number = {
  good: ["+4912345", "+878101234567890"],
  bad: ["4912345", "+12345", "+1234567890123456", "+49 12345", "+005352123456", "+10115352123456", "+999123456", 7]
}

export const nobody = `svc_leg_${"0".repeat(32)}`
const manyLegs = (count: number) =>
  Array.from({ length: count }, (_, index) => `svc_leg_${String(index).padStart(32, "0")}`)
const legs = {
  good: [[nobody], manyLegs(64)],
  bad: [[], manyLegs(65), ["x"], [`svc_call_${"0".repeat(32)}`], nobody, null]
}

const regions = ["Australia", "Europe", "Middle East", "US"]
const region = { fields: { region: [] }, ranges: { region: oneOf(...regions) } }
const onlyRegion: Verb = { body: {}, defaults: {}, ...region }
const ofLegs: Verb = {
  body: { leg_ids: [nobody] },
  fields: { leg_ids: [], ...region.fields },
  defaults: {},
  ranges: { leg_ids: legs, ...region.ranges }
}
const beep = ["never", "on_enter", "on_exit", "always"]
const roles = ["monitor", "whisper", "barge", "none"]

const aloneSecs = { good: [1, 3600, null], bad: [0, 3601, 1.5, "30"] }

/** How a call comes in. */
const entering = {
  fields: {
    mute: [true, false],
    hold: [true, false],
    hold_audio_url: [],
    role: [],
    whisper_leg_ids: [],
    beep_enabled: [],
    end_on_exit: [],
    soft_end_on_exit: []
  },
  ranges: {
    mute: flag,
    hold: flag,
    // It needs `hold`.
    hold_audio_url: { good: [], bad: [...url.good, ...url.bad] },
    role: { good: ["monitor", "barge", "none"], bad: ["listen", "whisper", 7] },
    beep_enabled: oneOf(...beep),
    end_on_exit: flag,
    soft_end_on_exit: flag
  }
} satisfies Pick<Verb, "fields" | "ranges">

/** guide/conferences.md#actions. */
export const verbs: Readonly<Record<string, Verb>> = {
  update: {
    body: {},
    fields: {
      duration_minutes: [],
      beep_enabled: beep,
      end_on_exit: [true, false],
      max_participants: [],
      end_when_alone_secs: [],
      on_member_left: [],
      on_member_left_audio_url: []
    },
    defaults: {},
    ranges: {
      duration_minutes: int(1, 2880),
      beep_enabled: oneOf(...beep),
      end_on_exit: flag,
      max_participants: int(2, 250),
      end_when_alone_secs: aloneSecs,
      on_member_left: { good: ["none", "hangup"], bad: ["transfer", 7] }
    }
  },
  end: onlyRegion,
  join: {
    body: { call_id: `svc_call_${"0".repeat(32)}` },
    fields: { call_id: [], ...entering.fields, ...region.fields },
    defaults: { mute: false, hold: false },
    ranges: {
      call_id: { good: [], bad: ["x", nobody, 7] },
      ...entering.ranges,
      ...region.ranges
    }
  },
  mute: ofLegs,
  unmute: ofLegs,
  hold: {
    ...ofLegs,
    fields: { ...ofLegs.fields, audio_url: [] },
    ranges: { ...ofLegs.ranges, audio_url: url }
  },
  unhold: ofLegs,
  play: {
    body: { url: "https://example.com/a.wav" },
    fields: { url: [], loop: [], leg_ids: [], ...region.fields },
    defaults: { loop: 1 },
    ranges: { url, loop: int(1, 100), leg_ids: legs, ...region.ranges }
  },
  speak: {
    body: { payload: "hello", voice: "openai.alloy" },
    fields: { payload: [], voice: [], language: [], payload_type: ["text"], leg_ids: [], ...region.fields },
    defaults: { language: null, payloadType: "text" },
    ranges: {
      payload: text(2000),
      language: { good: ["en", "en-US", null], bad: ["english language", "", 7] },
      payload_type: { good: ["text"], bad: ["html", 7] },
      leg_ids: legs,
      ...region.ranges
    }
  },
  stop: {
    body: {},
    fields: { leg_ids: [], ...region.fields },
    defaults: {},
    ranges: { leg_ids: legs, ...region.ranges }
  },
  record_start: {
    body: { format: "wav" },
    fields: {
      format: ["mp3", "wav"],
      channels: ["single", "dual"],
      play_beep: [true, false],
      trim: [],
      ...region.fields
    },
    defaults: { channels: "single", hasBeep: false },
    ranges: {
      format: oneOf("mp3", "wav"),
      channels: oneOf("single", "dual"),
      play_beep: flag,
      trim: oneOf("trim-silence"),
      ...region.ranges
    }
  },
  record_stop: onlyRegion,
  record_pause: onlyRegion,
  record_resume: onlyRegion,
  supervise: {
    body: { leg_id: nobody, role: "monitor" },
    fields: { leg_id: [], role: roles, whisper_leg_ids: [], ...region.fields },
    defaults: {},
    ranges: {
      leg_id: { good: [nobody], bad: ["x", `svc_call_${"0".repeat(32)}`, 7] },
      role: { good: ["monitor", "barge", "none"], bad: ["listen", "whisper", 7] },
      whisper_leg_ids: legs,
      ...region.ranges
    }
  }
}

/** The bodies for creating, for dialling, and for changing a participant. */
export const bodies: Readonly<Record<string, Pick<Verb, "fields" | "ranges">>> = {
  create: {
    fields: {
      name: [],
      host_call_id: [],
      beep_enabled: beep,
      start_on_create: [true, false],
      end_on_exit: [true, false],
      max_participants: [],
      duration_minutes: [],
      hold_audio_url: [],
      end_when_alone_secs: [],
      on_member_left: []
    },
    ranges: {
      name: text(120),
      host_call_id: { good: [], bad: ["x", nobody, 7, null] },
      beep_enabled: oneOf(...beep),
      start_on_create: flag,
      end_on_exit: flag,
      max_participants: int(2, 250),
      duration_minutes: int(1, 2880),
      end_when_alone_secs: aloneSecs
    }
  },
  dial: {
    fields: {
      from: [],
      to: [],
      route_id: [],
      timeout_secs: [],
      customer_reference: [],
      caller_id_forwarding: [true],
      mute: [],
      role: []
    },
    ranges: {
      from: number,
      to: number,
      route_id: { good: [null], bad: ["x", nobody, 7] },
      timeout_secs: int(1, 600),
      customer_reference: { good: ["", "é".repeat(128), null], bad: ["x".repeat(129), 7] },
      caller_id_forwarding: flag,
      ...entering.ranges
    }
  },
  update_member: {
    fields: { end_on_exit: [true, false], soft_end_on_exit: [true], beep_enabled: beep },
    ranges: { end_on_exit: flag, soft_end_on_exit: flag, beep_enabled: oneOf(...beep) }
  }
}

const ofRoom = ["conference_id", "call_id", "leg_id", "customer_reference"]
const ofMember = [...ofRoom, "member_id"]

/** guide/webhooks.md#events of conferences, each with its data, and each value of fields with a few. */
export const events: Readonly<
  Record<
    string,
    { readonly data: ReadonlyArray<string>; readonly values?: Readonly<Record<string, ReadonlyArray<string>>> }
  >
> = {
  "conference.started": { data: [...ofRoom, "name", "host_call_id"] },
  "conference.ended": {
    data: [...ofRoom, "ended_at", "duration_seconds", "reason"],
    values: { reason: ["api", "host_left", "member_left", "all_on_hold", "empty", "alone"] }
  },
  "conference.member_joined": { data: [...ofMember, "role", "joined_at"], values: { role: ["host", "participant"] } },
  "conference.member_left": {
    data: [...ofMember, "role", "left_at", "reason"],
    values: { role: ["host", "participant"], reason: ["api", "call_ended", "conference_ended"] }
  },
  "conference.member_muted": { data: ofMember },
  "conference.member_unmuted": { data: ofMember },
  "conference.member_held": { data: ofMember },
  "conference.member_unheld": { data: ofMember },
  "conference.member_role_changed": {
    data: [...ofMember, "supervisor_role", "whisper_leg_ids"],
    values: { supervisor_role: roles }
  },
  "conference.member_speaking_started": { data: ofMember },
  "conference.member_speaking_ended": { data: ofMember },
  "conference.playback_ended": {
    data: [...ofRoom, "playback_id", "status", "reason", "ended_at", "held_leg_id"],
    values: { status: ["completed", "stopped", "failed"], reason: ["conference_ended", "http_404"] }
  },
  "recording.completed": {
    data: ["call_id", "conference_id", "recording_id", "channels", "format", "duration_seconds", "download_url"],
    values: { channels: ["single", "dual"], format: ["mp3", "wav"] }
  }
}

/** guide/conferences.md#errors-of-a-room. */
export const errors: ReadonlyArray<string> = [
  "authentication_required",
  "forbidden",
  "invalid_request",
  "idempotency_conflict",
  "not_found",
  "member_not_found",
  "conference_full",
  "conference_already_ended",
  "conference_action_invalid",
  "call_not_in_required_state",
  "conflict",
  "recording_already_stopped",
  "unprocessable",
  "from_number_not_owned",
  "caller_id_forwarding_not_allowed",
  "balance_insufficient",
  "daily_spend_cap_exceeded",
  "monthly_spend_cap_exceeded",
  "concurrent_call_cap_exceeded",
  "country_blocked",
  "prefix_blocked"
]

/** The answer of a verb in a state, when all that it needs is there. */
export const outcome = (verb: string, state: State): string =>
  state === "completed"
    ? "conference_already_ended"
    : state === "init" && verb === "supervise"
      ? "conference_action_invalid"
      : verb === "dial"
        ? "201"
        : "200"

/** Every verb, and the actions on participants that have paths of their own. */
export const acts: ReadonlyArray<string> = [...Object.keys(verbs), "dial", "update_member", "remove_member"]

/** Every fact that the rows must show, in the form of `Seen.ts`. */
export const facts = (): ReadonlyArray<string> => {
  const fieldsOf = (of: string, fields: Verb["fields"]) =>
    Object.entries(fields).flatMap(([name, values]) => [
      `${of}.${name}`,
      ...values.map((value) => `${of}.${name}=${String(value)}`)
    ])
  return [
    ...acts.flatMap((verb) => states.map((state) => `${verb} ${state} ${outcome(verb, state)}`)),
    ...Object.entries({ ...verbs, ...bodies }).flatMap(([of, { fields }]) => fieldsOf(of, fields)),
    ...Object.entries(events).flatMap(([type, { data, values = {} }]) => [
      type,
      ...data.map((field) => `${type}.${field}`),
      ...Object.entries(values).flatMap(([field, each]) => each.map((value) => `${type}.${field}=${value}`))
    ]),
    ...errors.map((code) => `error ${code}`)
  ]
}
