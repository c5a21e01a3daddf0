import { Schema } from "effect"
import type { Speaking } from "../../call/Call.ts"
import { CallId, MemberId } from "../../../domain/Id.ts"
import * as ConferenceControl from "./ConferenceControl.ts"
import * as MemberVerbs from "./MemberVerbs.ts"
import * as RoomPlayback from "./RoomPlayback.ts"
import * as RoomRecording from "./RoomRecording.ts"
import type { Body, Verb } from "./ConferenceVerb.ts"

/**
 * Every verb of a conference, in the order of the published document. The schema of the journal's actions, the
 * endpoints, the handlers and the document are made from this table.
 */
export const table = {
  update: ConferenceControl.update,
  end: ConferenceControl.end,
  join: MemberVerbs.join,
  mute: MemberVerbs.mute,
  unmute: MemberVerbs.unmute,
  hold: MemberVerbs.hold,
  unhold: MemberVerbs.unhold,
  play: RoomPlayback.play,
  speak: RoomPlayback.speak,
  stop: RoomPlayback.stop,
  record_start: RoomRecording.recordStart,
  record_stop: RoomRecording.recordStop,
  record_pause: RoomRecording.recordPause,
  record_resume: RoomRecording.recordResume,
  supervise: MemberVerbs.supervise
} as const
type Table = typeof table

export type Built = keyof Table

export const names = Object.keys(table) as ReadonlyArray<Built>

export type VerbAction = { [V in Built]: { readonly verb: V; readonly body: Table[V]["body"]["Type"] } }[Built]

/** Actions on one member. */
const ofMember = [
  Schema.Struct({
    verb: Schema.Literal("update_member"),
    memberId: MemberId,
    body: Schema.toType(MemberVerbs.change)
  }),
  /** The member leaves the room, and is hung up only if it still rings. Named by the id of its call, or its own. */
  Schema.Struct({ verb: Schema.Literal("remove_member"), member: Schema.Union([CallId, MemberId]) })
] as const

/** An action of the API: a verb and its body with defaults applied, or an action on one member. */
export type ConferenceAction = VerbAction | (typeof ofMember)[number]["Type"]

/** The schema under which the journal keeps actions. */
export const ConferenceAction = Schema.Union([
  ...names.map((verb) => Schema.Struct({ verb: Schema.Literal(verb), body: Schema.toType<Body>(table[verb].body) })),
  ...ofMember
]) as unknown as Schema.Codec<ConferenceAction>

/** A verb with a body that is already decoded. */
export const action = (verb: Built, body: unknown): VerbAction => ({ verb, body }) as VerbAction

/** Decodes a body from the wire; throws on a schema error. */
export const decodeAction = (verb: Built, body: unknown): VerbAction =>
  action(verb, Schema.decodeUnknownSync<Body>(table[verb].body)(body))

/** URLs that this service will open on behalf of the action, by their wire names. */
export const targetsOf = ({ body, verb }: VerbAction): Readonly<Record<string, string>> => {
  const row: Verb = table[verb]
  return row.targets?.(body) ?? {}
}

/** The voice of the action; null: it does not speak. */
export const speakingOf = ({ body, verb }: VerbAction): Speaking | null => {
  const row: Verb = table[verb]
  return row.speaks?.(body) ?? null
}
