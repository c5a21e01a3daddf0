import { Schema } from "effect"
import type { Speaking } from "../../call/Call.ts"
import { CallId, MemberId } from "../../../domain/Id.ts"
import * as Control from "./Control.ts"
import * as Member from "./Member.ts"
import * as Playback from "./Playback.ts"
import * as Recording from "./Recording.ts"
import type { Body, Verb } from "./Verb.ts"

/**
 * Every verb of a conference, in the order of the published document. From this table come the schema of the journal's
 * actions, endpoints, handlers and the document.
 */
export const table = {
  update: Control.update,
  end: Control.end,
  join: Member.join,
  mute: Member.mute,
  unmute: Member.unmute,
  hold: Member.hold,
  unhold: Member.unhold,
  play: Playback.play,
  speak: Playback.speak,
  stop: Playback.stop,
  record_start: Recording.recordStart,
  record_stop: Recording.recordStop,
  record_pause: Recording.recordPause,
  record_resume: Recording.recordResume,
  supervise: Member.supervise
} as const
type Table = typeof table

export type Built = keyof Table

export const names = Object.keys(table) as ReadonlyArray<Built>

export type VerbAction = { [V in Built]: { readonly verb: V; readonly body: Table[V]["body"]["Type"] } }[Built]

/** What is asked of one member. */
const ofMember = [
  Schema.Struct({
    verb: Schema.Literal("update_member"),
    memberId: MemberId,
    body: Schema.toType(Member.change)
  }),
  /** It leaves the room, and is not hung up unless it still rings. By the id of its call, or by its own. */
  Schema.Struct({ verb: Schema.Literal("remove_member"), member: Schema.Union([CallId, MemberId]) })
] as const

/** What the API asks of a conference: a verb and its body, defaults applied, or something of one member. */
export type ConferenceAction = VerbAction | (typeof ofMember)[number]["Type"]

/** As the journal keeps it. */
export const ConferenceAction = Schema.Union([
  ...names.map((verb) => Schema.Struct({ verb: Schema.Literal(verb), body: Schema.toType<Body>(table[verb].body) })),
  ...ofMember
]) as unknown as Schema.Codec<ConferenceAction>

/** A verb with a body that its schema has decoded. */
export const action = (verb: Built, body: unknown): VerbAction => ({ verb, body }) as VerbAction

/** A body from the wire; its faults are thrown. */
export const decodeAction = (verb: Built, body: unknown): VerbAction =>
  action(verb, Schema.decodeUnknownSync<Body>(table[verb].body)(body))

/** URLs that this service will open on behalf of the action, by their names on the wire. */
export const targetsOf = ({ body, verb }: VerbAction): Readonly<Record<string, string>> => {
  const row: Verb = table[verb]
  return row.targets?.(body) ?? {}
}

/** How the action speaks; null: it does not. */
export const speakingOf = ({ body, verb }: VerbAction): Speaking | null => {
  const row: Verb = table[verb]
  return row.speaks?.(body) ?? null
}
