import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Recordings } from "../../../telephony/recording/Recording.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as Pagination from "../answer/Pagination.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "recordings",
  Effect.fnUntraced(function* (handlers) {
    const recordings = yield* Recordings
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/recordings", query, (window, filters) =>
          recordings.list(tenantId, filters, window)
        )
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* recordings.find(tenantId, params.id))
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(recordings.remove(caller, params.id, slot))
      })
    })
  })
)
