import { Schema } from "effect"
import { SupervisorRole } from "../../../ports/media/MemberChange.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as Id from "../../../domain/Id.ts"
import * as BodyField from "../../verb/BodyField.ts"
import { Beep, OnMemberLeft } from "../machine/ConferenceState.ts"

/** Fields that the bodies of conferences share. */

/** Accepted for clients that send it, but without effect: a room is where its host's leg is. */
export const region = {
  region: Schema.optionalKey(
    BodyField.of(
      Schema.Literals(["Australia", "Europe", "Middle East", "US"]),
      "Accepted, and without effect: a room is where its host's leg is.",
      "US"
    )
  )
}

const most = 64
const ids = (description: string) =>
  BodyField.of(
    Schema.NonEmptyArray(Id.spelled("leg")).check(Schema.isMaxLength(most)),
    `${description} 1 to ${most}.`,
    [Id.ofOpaque("leg", BodyField.opaque)]
  )

export const legIds = ids("Legs of members that are in the room.")
export const legIdsOrRoom = Schema.optionalKey(ids("Legs of members that are in the room; without it the whole room."))
/** The legs that hear a whisper. */
export const whisperLegIds = Schema.optionalKey(
  ids("Who hears a whisper; needed with `whisper`, and ignored otherwise.")
)

/** Which members a supervisor hears, and which hear it. */
export const supervisorRole = BodyField.of(
  SupervisorRole,
  "`monitor`: it hears all, and nobody hears it. `whisper`: only the legs of `whisper_leg_ids` hear it. `barge` and `none`: it hears all, and all hear it.",
  "monitor"
)

const noTargets = "is required with the role whisper"
const noHold = "needs hold true"

/** A role `whisper` names its hearers. */
export const whisperFault = (body: { readonly role?: SupervisorRole; readonly whisperLegIds?: unknown }) =>
  body.role === "whisper" && body.whisperLegIds === undefined
    ? { path: ["whisper_leg_ids"], issue: noTargets }
    : undefined

export const beepEnabled = BodyField.of(
  Beep,
  "When the others hear a short tone: as a member comes in, leaves, or both.",
  "on_enter"
)
export const maxParticipants = BodyField.of(
  BodyField.int(2, 250),
  "Members at once, the host and those who still ring among them.",
  10
)
export const endWhenAloneSecs = BodyField.of(
  Schema.NullOr(BodyField.int(1, 3600)),
  "The room is closed when all but one have left for this many seconds, and none rings or comes in; null: it is not.",
  30
)
/** The rule for the member that is left alone on hold. */
export const rule = {
  onMemberLeft: Schema.optionalKey(
    BodyField.of(
      OnMemberLeft,
      "What is done when a member leaves and the last one is on hold. `play`: it is taken off hold and hears the sound. `hangup`: the room is closed.",
      "play"
    )
  ),
  onMemberLeftAudioUrl: Schema.optionalKey(BodyField.httpsUrl("With `on_member_left` `play`: the sound."))
}

const noSound = "is required with on_member_left play, and goes with nothing else"

/** A rule that plays has a sound, and no other has one. */
export const ruleFault = (body: { readonly onMemberLeft?: string; readonly onMemberLeftAudioUrl?: string }) =>
  (body.onMemberLeft === "play") === (body.onMemberLeftAudioUrl === undefined)
    ? { path: ["on_member_left_audio_url"], issue: noSound }
    : undefined

export const durationMinutes = BodyField.of(BodyField.int(1, 2880), "The room is closed so long after its start.", 720)

/** Whether the room ends when a member leaves. */
export const onExit = {
  endOnExit: Schema.optionalKey(BodyField.of(Schema.Boolean, "Whether the room is closed when it leaves.", true)),
  softEndOnExit: Schema.optionalKey(
    BodyField.of(Schema.Boolean, "Whether the room is closed when it has left and nobody off hold is there.", true)
  )
}

/** How a call comes in, whether it joins or is dialled. */
export const entering = {
  mute: BodyField.or(BodyField.of(Schema.Boolean, "It comes in muted.", false), false),
  hold: BodyField.or(BodyField.of(Schema.Boolean, "It comes in on hold.", true), false),
  holdAudioUrl: Schema.optionalKey(
    BodyField.httpsUrl("With `hold`: what it hears until `unhold`, again and again; without it silence.")
  ),
  role: Schema.optionalKey(supervisorRole),
  whisperLegIds,
  beepEnabled: Schema.optionalKey(beepEnabled),
  ...onExit
}

/** The values of `entering`, under the names of the code. */
export const Entering = Schema.Struct({
  mute: Schema.optionalKey(Schema.Boolean),
  hold: Schema.optionalKey(Schema.Boolean),
  holdAudioUrl: Schema.optionalKey(Secret.url(Schema.String)),
  role: Schema.optionalKey(SupervisorRole),
  whisperLegIds: Schema.optionalKey(Schema.Array(Id.LegId)),
  beepEnabled: Schema.optionalKey(Beep),
  endOnExit: Schema.optionalKey(Schema.Boolean),
  softEndOnExit: Schema.optionalKey(Schema.Boolean)
})
export type Entering = typeof Entering.Type

/** Refuses a field that would have no effect, or lacks another. */
export const enteringFault = (body: Entering) =>
  body.hold !== true && body.holdAudioUrl !== undefined
    ? { path: ["hold_audio_url"], issue: noHold }
    : whisperFault(body)

/** The values of a larger body that say how a call comes in. */
export const enteringOf = (body: Entering): Entering => {
  const { beepEnabled, endOnExit, hold, holdAudioUrl, mute, role, softEndOnExit, whisperLegIds } = body
  return {
    ...(mute === undefined ? {} : { mute }),
    ...(hold === undefined ? {} : { hold }),
    ...(holdAudioUrl === undefined ? {} : { holdAudioUrl }),
    ...(role === undefined ? {} : { role }),
    ...(whisperLegIds === undefined ? {} : { whisperLegIds }),
    ...(beepEnabled === undefined ? {} : { beepEnabled }),
    ...(endOnExit === undefined ? {} : { endOnExit }),
    ...(softEndOnExit === undefined ? {} : { softEndOnExit })
  }
}
