import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Synthesizer } from "../../../ports/speech/Synthesizer.ts"
import { Api } from "../Api.ts"
import { pageOf } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "speech", (handlers) =>
  Effect.map(Synthesizer, (synthesizer) =>
    handlers.handleAll({
      voices: pageOf((_, { query }) => Effect.sync(() => synthesizer.voices(query.language ?? null)))
    })
  )
)
