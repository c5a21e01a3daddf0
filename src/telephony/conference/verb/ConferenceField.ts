import { Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import * as BodyField from "../../verb/BodyField.ts"

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

export const beepEnabled = BodyField.of(
  Schema.Literals(["never", "on_enter", "on_exit", "always"]),
  "When the others hear a short tone: as a member comes in, leaves, or both.",
  "on_enter"
)
export const maxParticipants = BodyField.of(
  BodyField.int(2, 250),
  "Members at once, the host and those who still ring among them.",
  10
)
export const durationMinutes = BodyField.of(BodyField.int(1, 2880), "The room is closed so long after its start.", 720)
