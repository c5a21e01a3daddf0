import { type Outcome, rejected, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import { Meter } from "../../call/Call.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { MediaEvent } from "../../../ports/media/MediaMessage.ts"
import { written } from "../../recording/Recording.ts"
import { isCompleted, type Recording } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RecordingMoney from "./RecordingMoney.ts"

/**
 * Recordings of the room. One runs at a time; while it is being stored, however long that takes, the next one may
 * begin. Each ends with `recording.completed` or `recording.failed`, even after the conference.
 */
type Result = ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never>

/** How long the object store may be away before a recording fails. */
const storedWithinMs = 6 * 3_600_000

const idOf = ({ id }: Recording): Id.RecordingId => Id.ofOpaque("rec", id)

const running = ({ state }: ConferenceStepBuilder.ConferenceStepBuilder): Recording | undefined =>
  state.recordings.find(({ until }) => until === null)

const replace = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  recording: Recording,
  fields: Partial<Recording>
): ConferenceStepBuilder.ConferenceStepBuilder =>
  ConferenceStepBuilder.set(builder, {
    recordings: builder.state.recordings.map((other) => (other === recording ? { ...other, ...fields } : other))
  })

export const start = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  {
    channels,
    format,
    hasBeep,
    trim
  }: {
    readonly channels: "single" | "dual"
    readonly format: "mp3" | "wav"
    readonly hasBeep: boolean
    readonly trim?: "trim-silence"
  },
  paid: { readonly microUsdPerMinute: number; readonly reservedMinutes: ReadonlyArray<number> } | null,
  context: StepContext
): Result => {
  const { hostCallId, id: conferenceId, recordings, tenantId } = builder.state
  if (running(builder) !== undefined)
    return rejected(ApiError.of("conference_action_invalid", "a recording is already running in this room"))
  const id = Id.WorkId.make(Id.deriveOpaque(context.seed, "recording"))
  const media = {
    type: "start_recording",
    id,
    callId: hostCallId,
    conferenceId,
    channels,
    format,
    maxLengthMs: null,
    ...(trim === undefined ? {} : { isTrimmed: true as const }),
    hasBeep,
    beepEveryMs: null
  } as const
  const { meters } = builder.state
  if (meters.length >= Meter.most)
    return rejected(ApiError.of("conflict", "this room was recorded as often as a room may be"))
  const { microUsdPerMinute = 0, reservedMinutes = [] } = paid ?? {}
  const meter = RecordingMoney.meterOf(builder.state, id, microUsdPerMinute, reservedMinutes[meters.length] ?? 0)
  return ConferenceStepBuilder.set(
    ConferenceStepBuilder.ask(builder, { type: "media", tenantId, media, to: null }, context),
    {
      meters: [...RecordingMoney.held(meters, reservedMinutes), { ...meter, startedAt: context.now }],
      renewalRefusedAt: null,
      recordings: [
        ...recordings,
        {
          id,
          commandId: ConferenceStepBuilder.commandId(builder, context),
          channels,
          format,
          isPaused: false,
          until: null
        }
      ]
    }
  )
}

const tell = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  type: "stop_recording" | "pause_recording" | "resume_recording",
  { id }: Recording,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  ConferenceStepBuilder.ask(
    builder,
    { type: "media", tenantId: builder.state.tenantId, media: { type, recording: id }, to: null },
    context
  )

export const stop = (builder: ConferenceStepBuilder.ConferenceStepBuilder, context: StepContext): Result => {
  const recording = running(builder)
  return recording === undefined
    ? rejected(ApiError.of("recording_already_stopped", "no recording is running in this room"))
    : tell(replace(builder, recording, { until: context.now + storedWithinMs }), "stop_recording", recording, context)
}

export const pause = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  isPaused: boolean,
  context: StepContext
): Result => {
  const recording = running(builder)
  if (recording === undefined)
    return rejected(ApiError.of("conference_action_invalid", "no recording is running in this room"))
  if (recording.isPaused === isPaused)
    return rejected(ApiError.of("conflict", `the recording is ${isPaused ? "" : "not "}paused`))
  return tell(
    replace(builder, recording, { isPaused }),
    isPaused ? "pause_recording" : "resume_recording",
    recording,
    context
  )
}

/** Keeps the running recording when the room closes, because it is still to be stored. */
export const outlive = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  at: number
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const recording = running(builder)
  return recording === undefined ? builder : replace(builder, recording, { until: at + storedWithinMs })
}

const reasons = ["storage_error", "internal_error", "unsupported"] as const

const of = ({ state }: ConferenceStepBuilder.ConferenceStepBuilder, recording: Recording) => ({
  callId: state.hostCallId,
  conferenceId: state.id,
  channels: recording.channels,
  format: recording.format
})

const without = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  recording: Recording
): ConferenceStepBuilder.ConferenceStepBuilder =>
  ConferenceStepBuilder.set(builder, { recordings: builder.state.recordings.filter((other) => other !== recording) })

const failed = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  recording: Recording,
  reason: string | null,
  at: number
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const recordingId = idOf(recording)
  const { customerReference, tenantId } = builder.state
  const paid = isCompleted(builder.state)
    ? builder
    : ConferenceStepBuilder.set(builder, { meters: Meter.voided(builder.state.meters, recording.id) })
  return ConferenceStepBuilder.write(
    ConferenceStepBuilder.emit(without(paid, recording), {
      type: "recording.failed",
      data: {
        ...of(builder, recording),
        recordingId,
        reason: reasons.find((known) => known === reason) ?? "internal_error",
        failedAt: at,
        customerReference
      }
    }),
    written({
      ...of(builder, recording),
      id: recordingId,
      tenantId,
      status: "failed",
      durationSeconds: 0,
      sizeBytes: 0,
      createdAt: at
    })
  )
}

/** Handles an event of the recorder. */
export const told = (builder: ConferenceStepBuilder.ConferenceStepBuilder, event: MediaEvent, at: number): Result => {
  const recording = "id" in event ? builder.state.recordings.find(({ id }) => id === event.id) : undefined
  if (recording === undefined) return unchanged
  switch (event.type) {
    case "recording_stopped":
      return recording.until === null ? replace(builder, recording, { until: at + storedWithinMs }) : unchanged
    case "recording_stored": {
      const recordingId = idOf(recording)
      const durationSeconds = Math.max(1, Math.round(event.durationMs / 1000))
      const { customerReference, tenantId } = builder.state
      return ConferenceStepBuilder.write(
        ConferenceStepBuilder.emit(without(builder, recording), {
          type: "recording.completed",
          data: {
            ...of(builder, recording),
            recordingId,
            durationSeconds,
            downloadUrl: event.downloadUrl,
            customerReference
          }
        }),
        written({
          ...of(builder, recording),
          id: recordingId,
          tenantId,
          status: "available",
          durationSeconds,
          sizeBytes: event.sizeBytes,
          createdAt: at
        })
      )
    }
    case "ended":
      return failed(builder, recording, event.reason, at)
    default:
      return unchanged
  }
}

/** Handles the carrier's report that it could not carry out the command. */
export const refused = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  commandId: Id.CommandId,
  reason: string,
  at: number
): Result => {
  const recording = builder.state.recordings.find((other) => other.commandId === commandId)
  return recording === undefined ? unchanged : failed(builder, recording, reason, at)
}

/** Fails the recordings whose outcome has not arrived in time. */
export const expired = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  now: number
): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.recordings
    .filter(({ until }) => until !== null && until <= now)
    .reduce((open, recording) => failed(open, recording, "storage_error", now), builder)
