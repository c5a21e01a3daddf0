import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Calls, CallVerbs } from "../../../telephony/call/Call.ts"
import type { CallId } from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Synthesizer } from "../../../ports/speech/Synthesizer.ts"
import { Recognizer } from "../../../ports/speech/Recognizer.ts"
import { Transcriptions } from "../../../telephony/transcription/Transcription.ts"
import { Api } from "../Api.ts"
import * as CallBodies from "./CallBodies.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as CsvAnswer from "../answer/CsvAnswer.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as Reachable from "../connection/Reachable.ts"

interface OneCall {
  readonly params: { readonly id: CallId }
}

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

const forEach = <Name extends string, Handler>(names: ReadonlyArray<Name>, handler: (name: Name) => Handler) =>
  Object.fromEntries(names.map((name) => [name, handler(name)])) as { readonly [N in Name]: Handler }

export const layer = HttpApiBuilder.group(
  Api,
  "calls",
  Effect.fnUntraced(function* (handlers) {
    const calls = yield* Calls
    const reachable = yield* Reachable.make
    const synthesizer = yield* Synthesizer
    const recognizer = yield* Recognizer
    const transcriptions = yield* Transcriptions

    /** Why no engine here can perform the action; null when one can. */
    const refusalOf = (action: CallVerbs.CallAction) => {
      const speaking = CallVerbs.speakingOf(action)
      const recognizing = CallVerbs.recognizingOf(action)
      return (
        (speaking === null ? null : synthesizer.refuse(speaking)) ??
        (recognizing === null ? null : recognizer.refuse(recognizing))
      )
    }

    /** A request without a body gets the verb's defaults. */
    const act = (verb: CallVerbs.Built) =>
      Effect.fnUntraced(function* ({ params, payload }: OneCall & { readonly payload: unknown }) {
        const action = payload === null ? CallVerbs.decodeAction(verb, {}) : CallVerbs.action(verb, payload)
        yield* reachable(CallVerbs.targetsOf(action), "https:")
        yield* reachable(CallVerbs.socketsOf(action), "wss:")
        const key = yield* CurrentKey
        const refusal = refusalOf(action)
        if (refusal !== null) {
          // An error of the call itself takes precedence.
          yield* calls.allows(key.tenantId, params.id, action)
          return yield* ApiError.of("unprocessable", refusal.detail, refusal.field)
        }
        const { slot } = yield* CurrentSlot
        return JsonResponse.respond(yield* calls.act(key, params.id, action, slot))
      })

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
      ...forEach(CallVerbs.names, act),
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
