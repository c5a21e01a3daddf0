import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Recordings } from "../../../telephony/recording/Recording.ts"
import { Api } from "../Api.ts"
import { list, read, write } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "recordings", (handlers) =>
  Effect.map(Recordings, (recordings) =>
    handlers.handleAll({
      list: list((tenantId, window, filters) => recordings.list(tenantId, filters, window)),
      retrieve: read((tenantId, { params }) => recordings.find(tenantId, params.id)),
      remove: write((caller, { params }, slot) => recordings.remove(caller, params.id, slot))
    })
  )
)
