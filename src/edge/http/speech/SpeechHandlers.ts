import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Synthesizer } from "../../../ports/speech/Synthesizer.ts"
import { Api } from "../Api.ts"
import * as Pagination from "../answer/Pagination.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "speech",
  Effect.fnUntraced(function* (handlers) {
    const synthesizer = yield* Synthesizer
    return handlers.handleAll({
      voices: ({ query }) => Effect.sync(() => Pagination.whole(synthesizer.voices(query.language ?? null)))
    })
  })
)
