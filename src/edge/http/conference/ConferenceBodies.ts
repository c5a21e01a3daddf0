import { Schema } from "effect"
import { BodyField } from "../../../telephony/call/Call.ts"
import { BodyField as Field } from "../../../telephony/conference/Conference.ts"
import { E164 } from "../../../domain/E164.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as PathId from "../request/PathId.ts"
import * as Text from "../request/Text.ts"

const { int, of, or } = BodyField

/** The request body of a new conference, guide/conferences.md#creating-a-conference. */
export const CreateConference = Wire.struct({
  name: of(Text.of(1, 120), "Unique among the workspace's rooms that are not completed.", "Weekly"),
  hostCallId: PathId.prefixed("call").annotate({ description: "A call that is answered or bridged: it is the host." }),
  beepEnabled: or(Field.beepEnabled, "never"),
  startOnCreate: or(of(Schema.Boolean, "False: the room starts when its second participant comes in.", true), true),
  endOnExit: or(of(Schema.Boolean, "The room ends when the host leaves.", true), true),
  maxParticipants: or(Field.maxParticipants, 10),
  durationMinutes: or(Field.durationMinutes, 720)
}).pipe(Schema.annotateEncoded({ identifier: "CreateConference" }))

/** The person to be dialled into the conference, guide/conferences.md#dialling-somebody-in. */
export const DialParticipant = Wire.struct({
  from: of(E164, "The calling number, E.164: an active number of the workspace.", "+12025550150"),
  to: of(E164, "The called number, E.164.", "+12025550100"),
  routeId: Wire.absentIs(
    null,
    Schema.NullOr(PathId.prefixed("route")).annotate({
      description: "The connection that it goes over; null: the default one.",
      examples: [null]
    })
  ),
  timeoutSecs: or(of(int(1, 600), "How long it may ring, in seconds.", 30), 60),
  customerReference: Text.optional(128, "Told with each event of its call.", "order 7"),
  callerIdForwarding: or(
    of(Schema.Boolean, "`from` may be any number; only where the workspace's quota allows it.", false),
    false
  )
}).pipe(Schema.annotateEncoded({ identifier: "DialParticipant" }))
