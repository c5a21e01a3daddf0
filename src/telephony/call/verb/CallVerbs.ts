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
import * as Streaming from "./Streaming.ts"
import type { When } from "./CallVerb.ts"
import type { Body, Verb } from "../../verb/Verb.ts"
import * as VerbTable from "../../verb/VerbTable.ts"

/**
 * Every verb of a call, in the order of the published document. The schema of the journal's actions and of the state's
 * items, the endpoints, the handlers and the document are made from this table.
 */
const verbs = VerbTable.make({
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
  speak: CallPlayback.speak,
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
})

export const { action, decodeAction, names, table } = verbs
type Table = typeof table

/** A verb for the machine: of a family, or of call control (`family` is null). */
export type Row = Verb<Body, When> & {
  readonly family: ActionKind | null
  act?(moment: Moment, body: unknown): Act<Activity>
}
export type Rows = Readonly<Record<Built, Row>> & Readonly<Record<string, Row>>

export type Built = keyof Table

export type CallAction = VerbTable.ActionOf<Table>

export type ControlAction = {
  [V in Built]: Table[V] extends { readonly family: null } ? Extract<CallAction, { readonly verb: V }> : never
}[Built]

/** Whether a verb belongs to call control, and so to no family. */
export const isControl = (action: CallAction): action is ControlAction => table[action.verb].family === null

/** The schema under which the journal keeps actions. */
export const CallAction = Schema.Union(verbs.schemas) as unknown as Schema.Codec<CallAction>

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
