import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Conferences, ConferenceVerbs } from "../../../telephony/conference/Conference.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { Api } from "../Api.ts"
import { list, read, write } from "../Handler.ts"
import * as Reachable from "../connection/Reachable.ts"
import * as VerbHandlers from "../VerbHandlers.ts"

const defaultUpstreamPageSize = 20

/** A call's id names no member where a member's id is required. */
const memberOf = (id: string): Effect.Effect<Id.MemberId, ApiError> =>
  Id.is("member", id) ? Effect.succeed(id) : Effect.fail(ApiError.of("member_not_found", "no such participant"))

export const layer = HttpApiBuilder.group(
  Api,
  "conferences",
  Effect.fnUntraced(function* (handlers) {
    const conferences = yield* Conferences
    const reachable = yield* Reachable.make
    const actions = (yield* VerbHandlers.make)(ConferenceVerbs, conferences)

    return handlers.handleAll({
      ...actions,
      create: write((caller, { payload }, slot) => {
        const { holdAudioUrl, onMemberLeftAudioUrl } = payload
        const urls = { hold_audio_url: holdAudioUrl, on_member_left_audio_url: onMemberLeftAudioUrl }
        return Effect.andThen(reachable(urls, "https:"), conferences.create(caller, payload, slot))
      }),
      list: list((tenantId, window, filters) => conferences.list(tenantId, filters, window)),
      retrieve: read((tenantId, { params }) => conferences.find(tenantId, params.id)),
      dial: write((caller, { params, payload }, slot) =>
        Effect.andThen(
          reachable({ hold_audio_url: payload.holdAudioUrl }, "https:"),
          conferences.dial(caller, params.id, payload, slot)
        )
      ),
      participants: list((tenantId, window, { includeLeft = false, ...filters }, { params }) =>
        conferences.participants(tenantId, params.id, { ...filters, includeLeft }, window)
      ),
      upstream: read((tenantId, { params, query }) => {
        const { page = 1, pageSize = defaultUpstreamPageSize, ...filters } = query
        return conferences.upstream(tenantId, params.id, filters, { number: page, size: pageSize })
      }),
      participant: read(
        Effect.fnUntraced(function* (tenantId, { params }) {
          // The conference's owner is checked first.
          yield* conferences.find(tenantId, params.id)
          return yield* conferences.participant(tenantId, params.id, yield* memberOf(params.member_id))
        })
      ),
      updateParticipant: write((caller, { params, payload }, slot) =>
        Effect.flatMap(memberOf(params.member_id), (memberId) =>
          conferences.act(caller, params.id, { verb: "update_member", memberId, body: payload }, slot)
        )
      ),
      removeParticipant: write((caller, { params: { id, member_id } }, slot) => {
        // The path's schema accepts no other kind of id.
        const member = Id.is("member", member_id) ? member_id : (member_id as Id.CallId)
        return conferences.act(caller, id, { verb: "remove_member", member }, slot)
      })
    })
  })
)
