import { Schema } from "effect"
import { rejected } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as BodyField from "../../verb/BodyField.ts"
import * as ConferenceClosing from "../machine/ConferenceClosing.ts"
import * as ConferenceStepBuilder from "../machine/ConferenceStepBuilder.ts"
import * as RoomMembers from "../machine/RoomMembers.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { verb } from "./ConferenceVerb.ts"

/** Verbs that change the room itself. */

export const update = verb({
  summary: "Change a conference",
  when: "open",
  body: BodyField.body("UpdateConference", {
    durationMinutes: Schema.optionalKey(ConferenceField.durationMinutes),
    beepEnabled: Schema.optionalKey(ConferenceField.beepEnabled),
    endOnExit: Schema.optionalKey(
      BodyField.of(Schema.Boolean, "Whether the room is closed when the host leaves.", true)
    ),
    maxParticipants: Schema.optionalKey(ConferenceField.maxParticipants),
    endWhenAloneSecs: Schema.optionalKey(ConferenceField.endWhenAloneSecs),
    ...ConferenceField.rule
  }).check(Schema.makeFilter(ConferenceField.ruleFault)),
  targets: ({ onMemberLeftAudioUrl }) => ({ on_member_left_audio_url: onMemberLeftAudioUrl }),
  // Fewer than are seated, or more than the plan allows.
  errors: ["unprocessable"],
  act: ({ builder, mostParticipants }, body) => {
    const { maxParticipants } = body
    if (maxParticipants !== undefined) {
      const present = RoomMembers.count(builder.state)
      if (maxParticipants < present)
        return rejected(ApiError.of("unprocessable", `max_participants: ${present} are there now`, "max_participants"))
      if (mostParticipants !== null && maxParticipants > mostParticipants)
        return rejected(RoomMembers.tooMany(mostParticipants))
    }
    return ConferenceStepBuilder.set(builder, body)
  }
})

export const end = verb({
  summary: "Close the room and hang up all of its members",
  when: "open",
  body: BodyField.body("EndConference", ConferenceField.region),
  act: ({ builder, context }) => ConferenceClosing.close(builder, "api", context.now, context)
})
