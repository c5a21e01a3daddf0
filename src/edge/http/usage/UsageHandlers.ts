import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Usages } from "../../../money/usage/Usage.ts"
import { Api } from "../Api.ts"
import { read } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "usage", (handlers) =>
  Effect.map(Usages, (usages) =>
    handlers.handleAll({
      retrieve: read((tenantId, { query }) => usages.report(tenantId, query))
    })
  )
)
