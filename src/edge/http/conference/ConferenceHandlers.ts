import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Conferences, ConferenceVerbs } from "../../../telephony/conference/Conference.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as VerbHandlers from "../VerbHandlers.ts"
import * as Pagination from "../answer/Pagination.ts"

const defaultUpstreamPageSize = 20

/** A call's id names no member where a member's id is required. */
const memberOf = (id: string): Effect.Effect<Id.MemberId, ApiError> =>
  Id.is("member", id) ? Effect.succeed(id) : Effect.fail(ApiError.of("member_not_found", "no such participant"))

export const layer = HttpApiBuilder.group(
  Api,
  "conferences",
  Effect.fnUntraced(function* (handlers) {
    const conferences = yield* Conferences
    const actions = (yield* VerbHandlers.make)(ConferenceVerbs, conferences)

    const ask = Effect.fnUntraced(function* (conferenceId: Id.ConferenceId, action: ConferenceVerbs.ConferenceAction) {
      const key = yield* CurrentKey
      const { slot } = yield* CurrentSlot
      return JsonResponse.respond(yield* conferences.act(key, conferenceId, action, slot))
    })

    return handlers.handleAll({
      ...actions,
      create: Effect.fnUntraced(function* ({ payload }) {
        const key = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return JsonResponse.respond(yield* conferences.create(key, payload, slot))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/conferences/", query, (window, filters) =>
          conferences.list(tenantId, filters, window)
        )
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* conferences.find(tenantId, params.id))
      }),
      dial: Effect.fnUntraced(function* ({ params, payload }) {
        const key = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return JsonResponse.respond(yield* conferences.dial(key, params.id, payload, slot))
      }),
      participants: Effect.fnUntraced(function* ({ params, query }) {
        const { tenantId } = yield* CurrentKey
        const path = `/v1/conferences/${params.id}/participants/list/`
        return yield* Pagination.answer(path, query, (window, { includeLeft = false, ...filters }) =>
          conferences.participants(tenantId, params.id, { ...filters, includeLeft }, window)
        )
      }),
      upstream: Effect.fnUntraced(function* ({ params, query }) {
        const { tenantId } = yield* CurrentKey
        const { page = 1, pageSize = defaultUpstreamPageSize, ...filters } = query
        const asked = { number: page, size: pageSize }
        return JsonResponse.of(yield* conferences.upstream(tenantId, params.id, filters, asked))
      }),
      participant: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        // The conference's owner is checked first.
        yield* conferences.find(tenantId, params.id)
        const memberId = yield* memberOf(params.member_id)
        return JsonResponse.of(yield* conferences.participant(tenantId, params.id, memberId))
      }),
      updateParticipant: Effect.fnUntraced(function* ({ params, payload }) {
        const memberId = yield* memberOf(params.member_id)
        return yield* ask(params.id, { verb: "update_member", memberId, body: payload })
      }),
      removeParticipant: Effect.fnUntraced(function* ({ params: { id, member_id } }) {
        // The path's schema accepts no other kind of id.
        const member = Id.is("member", member_id) ? member_id : (member_id as Id.CallId)
        return yield* ask(id, { verb: "remove_member", member })
      })
    })
  })
)
