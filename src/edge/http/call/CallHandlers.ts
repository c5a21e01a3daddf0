import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Calls, CallVerbs } from "../../../telephony/call/Call.ts"
import { Transcriptions } from "../../../telephony/transcription/Transcription.ts"
import { Api } from "../Api.ts"
import * as CallBodies from "./CallBodies.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as CsvAnswer from "../answer/CsvAnswer.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as VerbHandlers from "../VerbHandlers.ts"
import * as Reachable from "../connection/Reachable.ts"

/** Columns of `calls.csv`. */
const columns = [
  "id",
  "direction",
  "status",
  "from",
  "to",
  "route_id",
  "initiated_at",
  "answered_at",
  "ended_at",
  "duration_seconds",
  "end_reason",
  "end_initiator",
  "customer_reference",
  "cost_cents",
  "rating_status"
] as const

export const layer = HttpApiBuilder.group(
  Api,
  "calls",
  Effect.fnUntraced(function* (handlers) {
    const calls = yield* Calls
    const reachable = yield* Reachable.make
    const actions = (yield* VerbHandlers.make)(CallVerbs, calls)
    const transcriptions = yield* Transcriptions

    return handlers.handleAll({
      place: Effect.fnUntraced(function* ({ payload }) {
        const options = CallBodies.optionsOf(payload)
        yield* reachable(options.audioUrl === undefined ? {} : { audio_url: options.audioUrl }, "https:")
        const key = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        const plan = CallBodies.planOf(payload)
        return JsonResponse.respond(yield* calls.place(key, { ...payload, plan, options }, slot))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/calls", query, (window, filters) => calls.list(tenantId, filters, window))
      }),
      file: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return CsvAnswer.make("calls.csv", columns, yield* calls.whole(tenantId, query))
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* calls.find(tenantId, params.id))
      }),
      ...actions,
      streamings: Effect.fnUntraced(function* ({ params, query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer(`/v1/calls/${params.id}/streamings`, query, ({ limit, offset }) =>
          Effect.map(calls.streams(tenantId, params.id), (streams) => ({
            count: streams.length,
            next: null,
            results: streams.slice(offset, offset + limit)
          }))
        )
      }),
      transcription: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.streamed(yield* transcriptions.find(tenantId, params.id))
      }),
      amd: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* calls.machineDetection(tenantId, params.id))
      })
    })
  })
)
