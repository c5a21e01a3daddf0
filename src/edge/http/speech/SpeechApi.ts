import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Voice } from "../../../ports/speech/VoiceView.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import { optional } from "../../../domain/schema/RequestField.ts"

const { list } = endpoints({ reads: "calls:read", writes: null })

/** Speech, guide/speech.md#voices. */
export class SpeechApi extends HttpApiGroup.make("speech")
  .add(
    list("voices", "/v1/voices", "List voices", Voice, {
      filters: {
        language: optional(
          Schema.String.check(Schema.isPattern(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/)),
          "Only those that speak it, in whatever region: a BCP 47 tag.",
          "en-us"
        )
      },
      description:
        "The voices of the engines that this service has: what `voice` of `speak` takes, and in which language."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Speech", description: "What can be spoken with." })) {}
