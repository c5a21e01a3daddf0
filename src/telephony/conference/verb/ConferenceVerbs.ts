import { Schema } from "effect"
import { CallId, MemberId } from "../../../domain/Id.ts"
import * as VerbTable from "../../verb/VerbTable.ts"
import * as ConferenceControl from "./ConferenceControl.ts"
import * as MemberVerbs from "./MemberVerbs.ts"
import * as RoomPlayback from "./RoomPlayback.ts"
import * as RoomRecording from "./RoomRecording.ts"

/**
 * Every verb of a conference, in the order of the published document. The schema of the journal's actions, the
 * endpoints, the handlers and the document are made from this table.
 */
const verbs = VerbTable.make({
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
})

export const { action, decodeAction, names, table } = verbs

export type Built = keyof typeof table

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
export type ConferenceAction = VerbTable.ActionOf<typeof table> | (typeof ofMember)[number]["Type"]

/** The schema under which the journal keeps actions. */
export const ConferenceAction = Schema.Union([
  ...verbs.schemas,
  ...ofMember
]) as unknown as Schema.Codec<ConferenceAction>
