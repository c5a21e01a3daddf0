import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type CallAction, type CallFilters, Calls } from "../../call/Call.ts"
import { Rejected } from "../../domain/Rejected.ts"
import { Egress } from "../../egress/Egress.ts"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../Authenticator.ts"
import { CurrentSlot } from "../CurrentSlot.ts"
import * as Pagination from "../Pagination.ts"
import * as Refusal from "../Refusal.ts"
import type * as CallBodies from "./CallBodies.ts"

type Gather = typeof CallBodies.Gather.Type

interface OneCall {
  readonly params: { readonly id: string }
}

const gatherDefaults: Gather = {
  minimum_digits: 1,
  maximum_digits: 128,
  terminating_digit: "#",
  valid_digits: "0123456789#*",
  timeout_millis: 60_000,
  inter_digit_timeout_millis: 5_000,
  initial_timeout_millis: 5_000
}

const gatherOptions = (body: Gather) => ({
  minimumDigits: body.minimum_digits,
  maximumDigits: body.maximum_digits,
  terminatingDigit: body.terminating_digit,
  validDigits: body.valid_digits,
  timeoutMs: body.timeout_millis,
  interDigitTimeoutMs: body.inter_digit_timeout_millis,
  initialTimeoutMs: body.initial_timeout_millis
})

/** Calls, from wire to door. */
export const layer = HttpApiBuilder.group(
  Api,
  "calls",
  Effect.fnUntraced(function* (handlers) {
    const calls = yield* Calls
    const egress = yield* Egress

    const reachable = (field: string, url: string) => {
      const refusal = egress.refuse(url)
      return refusal === null
        ? Effect.void
        : Effect.fail(Rejected.of("invalid_request", `${field}: the URL ${refusal}`))
    }

    const act = Effect.fnUntraced(function* ({ params }: OneCall, action: CallAction) {
      const key = yield* CurrentKey
      const { slot } = yield* CurrentSlot
      return Refusal.respond(yield* calls.act(key, params.id, action, slot))
    })

    /** A foreign or unknown call is a 404 here too. */
    const unbuilt = (what: string) =>
      Effect.fnUntraced(function* ({ params }: OneCall) {
        const { tenantId } = yield* CurrentKey
        yield* calls.find(tenantId, params.id)
        return yield* NotBuiltYet.endpoint(what)
      })

    return handlers
      .handleAll({
        place: Effect.fnUntraced(function* ({ payload }) {
          const key = yield* CurrentKey
          const { slot } = yield* CurrentSlot
          const placed = yield* calls.place(
            key,
            {
              from: payload.from,
              to: payload.to,
              routeId: payload.route_id ?? null,
              customerReference: payload.customer_reference ?? null,
              timeoutSecs: payload.timeout_secs,
              timeLimitSecs: payload.time_limit_secs ?? null,
              callerIdForwarding: payload.caller_id_forwarding
            },
            slot
          )
          return Refusal.respond(placed)
        }),
        list: Effect.fnUntraced(function* ({ query }) {
          const { tenantId } = yield* CurrentKey
          const filters: CallFilters = {
            ...(query.status === undefined ? {} : { status: query.status }),
            ...(query.direction === undefined ? {} : { direction: query.direction }),
            ...(query.from_number === undefined ? {} : { fromNumber: query.from_number }),
            ...(query.to_number === undefined ? {} : { toNumber: query.to_number }),
            ...(query.initiated_after === undefined ? {} : { initiatedAfterMs: query.initiated_after })
          }
          return yield* Pagination.answer("/v1/calls", query, (window) => calls.list(tenantId, filters, window))
        }),
        retrieve: Effect.fnUntraced(function* ({ params }) {
          const { tenantId } = yield* CurrentKey
          return Refusal.json(yield* calls.find(tenantId, params.id))
        }),
        answer: (request) => act(request, { type: "answer" }),
        reject: (request) => act(request, { type: "reject", cause: request.payload.cause }),
        hangup: (request) => act(request, { type: "hangup" }),
        play: (request) =>
          Effect.andThen(
            reachable("url", request.payload.url),
            act(request, { type: "play", url: request.payload.url, loop: request.payload.loop })
          ),
        stop_playback: (request) => act(request, { type: "stop_playback", which: request.payload?.stop ?? "all" }),
        send_dtmf: ({ params, payload }) =>
          act({ params }, { type: "send_dtmf", digits: payload.digits, durationMs: payload.duration_millis }),
        gather: (request) =>
          act(request, { type: "gather", options: gatherOptions(request.payload ?? gatherDefaults) }),
        stop_gather: (request) => act(request, { type: "stop_gather" })
      })
      .handleAll({
        transfer: unbuilt("transfer"),
        bridge: unbuilt("bridge"),
        refer: unbuilt("refer"),
        speak: unbuilt("speak"),
        start_recording: unbuilt("start_recording"),
        stop_recording: unbuilt("stop_recording"),
        gather_using_speak: unbuilt("gather_using_speak"),
        gather_using_audio: unbuilt("gather_using_audio"),
        streaming_start: unbuilt("streaming_start"),
        streaming_stop: unbuilt("streaming_stop"),
        transcription_start: unbuilt("transcription_start"),
        transcription_stop: unbuilt("transcription_stop"),
        streamings: unbuilt("the list of streams"),
        transcription: unbuilt("the transcript"),
        amd: unbuilt("the answering-machine result")
      })
  })
)
