import { WorkId } from "../../../domain/Id.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as ActionKind from "./ActionKind.ts"
import * as BodyField from "../../verb/BodyField.ts"

/**
 * Digits that are sent to the far end, one string after the other, guide/calls.md#send_dtmf. No event reports their
 * end.
 */
const digits = ActionKind.make(
  "digits",
  {},
  {
    // The limit is that of the media plane's queue for a leg.
    limit: 32,
    full: "32 digit strings already wait to be sent on this call",
    told: () => null,
    legEnded: { ending: () => null },
    restarted: { ending: () => null, quiet: null }
  }
)

export const sendDtmf = digits.verb({
  summary: "Send digits (RFC 4733)",
  when: "talking",
  body: BodyField.body(
    "SendDtmf",
    {
      digits: Secret.digits(
        BodyField.of(
          BodyField.matching(/^[0-9A-D*#wW]{1,64}$/u, "must be 1 to 64 of 0-9, A-D, *, #, w and W"),
          "Sent one after the other; `w` is a pause of half a second, `W` of a second.",
          "1w234#"
        )
      ),
      durationMs: BodyField.or(BodyField.of(BodyField.int(100, 500), "Of each digit, in milliseconds.", 250), 250)
    },
    { durationMs: "duration_millis" }
  ),
  act: ({ commandId }, body) => {
    const id = WorkId.make(commandId)
    return { type: "begin", item: { id, media: { type: "send_dtmf", id, ...body } } }
  }
})
