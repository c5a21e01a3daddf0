import { Schema } from "effect"
import type { Kind as PriceKind } from "../../../domain/WorkPrice.ts"
import * as Connect from "./Connect.ts"
import * as CallControl from "./CallControl.ts"
import * as SendDtmf from "./SendDtmf.ts"
import type { Act, ActionKind, Activity, Moment } from "./ActionKind.ts"
import * as Gather from "./gather/Gather.ts"
import * as GatherPrompt from "./gather/GatherPrompt.ts"
import * as MachineDetection from "./MachineDetection.ts"
import * as CallPlayback from "./CallPlayback.ts"
import * as CallTranscription from "./CallTranscription.ts"
import * as CallRecording from "./CallRecording.ts"
import * as Speak from "./Speak.ts"
import * as Streaming from "./Streaming.ts"
import { type Body, type Recognizing, type Speaking, type Verb } from "./CallVerb.ts"

/**
 * Every verb of a call, in the order of the published document. The schema of the journal's actions and of the state's
 * items, the endpoints, the handlers and the document are made from this table.
 */
export const table = {
  answer: CallControl.answer,
  reject: CallControl.reject,
  hangup: CallControl.hangup,
  play: CallPlayback.play,
  stop_playback: CallPlayback.stopPlayback,
  send_dtmf: SendDtmf.sendDtmf,
  gather: Gather.gather,
  stop_gather: Gather.stopGather,
  transfer: Connect.transfer,
  bridge: Connect.bridge,
  refer: Connect.refer,
  speak: Speak.speak,
  start_recording: CallRecording.startRecording,
  stop_recording: CallRecording.stopRecording,
  pause_recording: CallRecording.pauseRecording,
  resume_recording: CallRecording.resumeRecording,
  gather_using_speak: GatherPrompt.gatherUsingSpeak,
  gather_using_audio: GatherPrompt.gatherUsingAudio,
  streaming_start: Streaming.streamingStart,
  streaming_stop: Streaming.streamingStop,
  transcription_start: CallTranscription.transcriptionStart,
  transcription_stop: CallTranscription.transcriptionStop
} as const
type Table = typeof table

/** A verb for the machine: of a family, or of call control (`family` is null). */
export type Row = Verb & {
  readonly family: ActionKind | null
  act?(moment: Moment, body: unknown): Act<Activity>
}
export type Rows = Readonly<Record<Built, Row>> & Readonly<Record<string, Row>>

export type Built = keyof Table

export const names = Object.keys(table) as ReadonlyArray<Built>

export const built: Table = table

/** An action of the API: a verb and its body, with defaults applied. */
export type CallAction = { [V in Built]: { readonly verb: V; readonly body: Table[V]["body"]["Type"] } }[Built]

export type ControlAction = {
  [V in Built]: Table[V] extends { readonly family: null } ? Extract<CallAction, { readonly verb: V }> : never
}[Built]

/** Whether a verb belongs to call control, and so to no family. */
export const isControl = (action: CallAction): action is ControlAction => table[action.verb].family === null

/** The schema under which the journal keeps actions. */
export const CallAction = Schema.Union(
  names.map((verb) => Schema.Struct({ verb: Schema.Literal(verb), body: Schema.toType<Body>(table[verb].body) }))
) as unknown as Schema.Codec<CallAction>

/** A verb with a body that is already decoded. */
export const action = (verb: Built, body: unknown): CallAction => ({ verb, body }) as CallAction

/** URLs that this service will open on behalf of the action, by their wire names. */
export const targetsOf = ({ body, verb }: CallAction): Readonly<Record<string, string>> => {
  const row: Verb = table[verb]
  return row.targets?.(body) ?? {}
}

/** The same for `wss` URLs. */
export const socketsOf = ({ body, verb }: CallAction): Readonly<Record<string, string>> => {
  const row: Verb = table[verb]
  return row.sockets?.(body) ?? {}
}

/** The voice of the action; null: it does not speak. */
export const speakingOf = ({ body, verb }: CallAction): Speaking | null => {
  const row: Verb = table[verb]
  return row.speaks?.(body) ?? null
}

/** The recognition that the action needs; null: none. */
export const recognizingOf = ({ body, verb }: CallAction): Recognizing | null => {
  const row: Verb = table[verb]
  return row.recognizes?.(body) ?? null
}

/** Decodes a body from the wire, or from an earlier version; throws on a schema error. */
export const decodeAction = (verb: Built, body: unknown): CallAction =>
  action(verb, Schema.decodeUnknownSync<Body>(table[verb].body)(body))

/** The kind of priced work that a verb may begin; null: none. */
export const priceOf = (verb: Built): PriceKind | null => {
  const row: Row = table[verb]
  return row.act === undefined || row.when === "running" ? null : (row.family?.meter?.kind ?? null)
}

/** Families whose work begins by itself and has no verb. */
const withoutVerb: ReadonlyArray<ActionKind> = [MachineDetection.family]

/** The families of some verbs, and those without a verb, each once. */
export const familiesOf = (rows: Rows): ReadonlyArray<ActionKind> => [
  ...new Set(Object.values(rows).flatMap(({ family }) => (family === null ? [] : [family]))),
  ...withoutVerb
]
