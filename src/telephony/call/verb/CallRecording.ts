import { Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as RecordingMessage from "../../../ports/media/RecordingMessages.ts"
import * as Recordings from "../../recording/Recording.ts"
import * as ActionKind from "./ActionKind.ts"
import * as BodyField from "../../verb/BodyField.ts"
import { reservationErrors } from "../../verb/Verb.ts"

/**
 * Recordings of a call, guide/recordings.md. One runs at a time; while it is being stored, however long that takes, the
 * next one may begin. Each ends with `recording.completed` or `recording.failed`, even after the call.
 */

/** How long the object store may be away before a recording fails. */
const storedWithinMs = 6 * 3_600_000

const fields = {
  ...RecordingMessage.shape,
  isPaused: Schema.Boolean,
  /** It began through the call's plan, and not on request. */
  isOfPlan: Schema.Boolean,
  /** The keys of the far end that end it; absent: none. */
  finishOnKey: Schema.optionalKey(Schema.String)
}

type Item = ActionKind.Activity & Schema.Struct<typeof fields>["Type"]

/** The id under which the API knows it. */
const idOf = ({ id }: Pick<Item, "id">): Id.RecordingId => Id.schema("rec").make(`svc_rec_${id}`)

const secondsOf = (ms: number): number => Math.max(1, Math.round(ms / 1000))

const stored =
  (
    item: Item,
    file: { readonly durationMs: number; readonly sizeBytes: number; readonly downloadUrl: string }
  ): ActionKind.Ending =>
  ({ callId, customerReference }, at, { tenantId }) => {
    const { channels, format } = item
    const durationSeconds = secondsOf(file.durationMs)
    const of = { callId, conferenceId: null, channels, format }
    return {
      events: [
        {
          type: "recording.completed",
          data: { ...of, recordingId: idOf(item), durationSeconds, downloadUrl: file.downloadUrl, customerReference }
        }
      ],
      rows: Recordings.written({
        ...of,
        id: idOf(item),
        tenantId,
        status: "available",
        durationSeconds,
        sizeBytes: file.sizeBytes,
        createdAt: at
      })
    }
  }

const reasons = ["storage_error", "internal_error", "unsupported"] as const

const failed =
  (item: Item, reason: string | null): ActionKind.Ending =>
  ({ callId, customerReference }, at, { tenantId }) => {
    const { channels, format } = item
    const of = { callId, conferenceId: null, channels, format }
    return {
      events: [
        {
          type: "recording.failed",
          data: {
            ...of,
            recordingId: idOf(item),
            reason: reasons.find((known) => known === reason) ?? "internal_error",
            failedAt: at,
            customerReference
          }
        }
      ],
      rows: Recordings.written({
        ...of,
        id: idOf(item),
        tenantId,
        status: "failed",
        durationSeconds: 0,
        sizeBytes: 0,
        createdAt: at
      })
    }
  }

/** A recording that began by itself on a leg without sound gets no event, because there was nothing to record. */
const isNothing = ({ isOfPlan }: Item, reason: string | null): boolean =>
  isOfPlan && (reason === "no_sound" || reason === "not_answered" || reason === "unknown_leg")

const started = (
  { derive, of }: ActionKind.Moment,
  file: Pick<Item, "channels" | "format">,
  options: {
    readonly maxLengthSecs: number | null
    readonly hasBeep: boolean
    readonly beepEverySecs: number | null
    readonly finishOnKey?: string
    readonly silenceSecs?: number
    readonly isTrimmed?: boolean
  },
  isOfPlan: boolean
): ActionKind.Started<Item> => {
  const id = derive("recording")
  const { channels, format } = file
  const { finishOnKey, silenceSecs } = options
  return {
    id,
    channels,
    format,
    isPaused: false,
    isOfPlan,
    ...(finishOnKey === undefined ? {} : { finishOnKey }),
    media: {
      type: "start_recording",
      id,
      callId: of.callId,
      channels,
      format,
      maxLengthMs: options.maxLengthSecs === null ? null : options.maxLengthSecs * 1000,
      hasBeep: options.hasBeep,
      beepEveryMs: options.beepEverySecs === null ? null : options.beepEverySecs * 1000,
      ...(silenceSecs === undefined ? {} : { silenceMs: silenceSecs * 1000 }),
      ...(options.isTrimmed === true ? { isTrimmed: true } : {})
    }
  }
}

/** The turn of a recording that has to stop: the media end it, and it waits for its file. */
const stopping = <I extends Item>(item: I): ActionKind.Turn<I> => ({
  item,
  tells: null,
  leaves: true,
  media: [{ type: "stop_recording", recording: item.id }]
})

const recording = ActionKind.make("recording", fields, {
  limit: 1,
  full: "a recording is already running on this call",
  meter: { kind: "recording", per: "minute", isFreeWhenFailed: true },
  told: (item, { reason }) => (isNothing(item, reason) ? null : failed(item, reason)),
  heard: (item, event) => {
    switch (event.type) {
      case "recording_stored":
        return { item: null, tells: stored(item, event) }
      case "recording_stopped":
        return { item, tells: null, leaves: true }
      default:
        return { item, tells: null }
    }
  },
  digit: (item, digit) => (item.finishOnKey?.includes(digit) === true ? stopping(item) : { item, tells: null }),
  starts: ({ record, recordChannels: channels, recordFormat: format }, occasion, moment) =>
    (record === "on_answer" && occasion === "answered") ||
    // It begins with the answer when the leg did not ring, or had no sound before.
    (record === "on_ringing" && occasion !== "answering")
      ? started(moment, { channels, format }, { maxLengthSecs: null, hasBeep: false, beepEverySecs: null }, true)
      : null,
  legEnded: { outlivesMs: storedWithinMs, expired: (item) => failed(item, "storage_error") },
  restarted: "kept"
})

const none = ApiError.of("recording_already_stopped", "no recording is running on this call")

export const startRecording = recording.verb({
  summary: "Record the call; the result is `recording.completed`",
  when: "answered",
  body: BodyField.body(
    "StartRecording",
    {
      channels: Schema.optionalKey(BodyField.channels),
      format: Schema.optionalKey(BodyField.format),
      maxLengthSecs: Schema.optionalKey(
        BodyField.of(BodyField.int(1, 14_400), "It ends by itself after so many seconds, pauses included.", 600)
      ),
      hasBeep: BodyField.or(
        BodyField.of(Schema.Boolean, "A tone at the beginning, which all on the call hear.", true),
        false
      ),
      beepEverySecs: Schema.optionalKey(
        BodyField.of(BodyField.int(5, 300), "The same tone again after each so many seconds; some laws ask for 15.", 15)
      ),
      finishOnKey: Schema.optionalKey(
        BodyField.of(
          BodyField.matching(/^[0-9A-D*#]{1,16}$/, "must be 1 to 16 keys of 0-9, A-D, * and #"),
          "Any of these keys, pressed at the far end, ends it.",
          "#"
        )
      ),
      trim: BodyField.trim,
      silenceSecs: Schema.optionalKey(
        BodyField.of(
          BodyField.int(1, 600),
          "It ends by itself when neither side has spoken for so many seconds, from its beginning on.",
          5
        )
      )
    },
    {
      maxLengthSecs: "max_length",
      hasBeep: "play_beep",
      beepEverySecs: "beep_interval_seconds",
      silenceSecs: "silence_timeout_seconds"
    }
  ),
  errors: ["conflict", ...reservationErrors],
  act: (
    moment,
    { beepEverySecs = null, channels, finishOnKey, format, hasBeep, maxLengthSecs = null, silenceSecs, trim }
  ) => {
    const { record, recordChannels, recordFormat } = moment.plan
    const isOnDemand = record === "on_demand"
    return {
      type: "begin",
      item: started(
        moment,
        {
          channels: channels ?? (isOnDemand ? recordChannels : "single"),
          format: format ?? (isOnDemand ? recordFormat : "mp3")
        },
        {
          maxLengthSecs,
          hasBeep,
          beepEverySecs,
          ...(finishOnKey === undefined ? {} : { finishOnKey }),
          ...(silenceSecs === undefined ? {} : { silenceSecs }),
          isTrimmed: trim !== undefined
        },
        false
      )
    }
  }
})

export const stopRecording = recording.verb({
  summary: "End the recording; it is stored then",
  when: "talking",
  body: BodyField.nothing,
  errors: ["recording_already_stopped"],
  act: () => ({
    type: "change",
    none,
    change: stopping
  })
})

/** Pauses or resumes the recording; the silence between is free. */
const pausing = (isPaused: boolean, type: "pause_recording" | "resume_recording", refusal: string) =>
  recording.verb({
    summary: isPaused ? "Pause the recording: silence until it is resumed, free of charge" : "Resume the recording",
    when: "talking",
    body: BodyField.nothing,
    errors: ["recording_already_stopped"],
    act: () => ({
      type: "change",
      none,
      change: (item) =>
        item.isPaused === isPaused
          ? ApiError.of("conflict", refusal)
          : { item: { ...item, isPaused }, tells: null, isFree: isPaused, media: [{ type, recording: item.id }] }
    })
  })

export const pauseRecording = pausing(true, "pause_recording", "the recording is paused already")
export const resumeRecording = pausing(false, "resume_recording", "the recording is not paused")
