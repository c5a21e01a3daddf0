import { Clock, Effect, Result } from "effect"
import { Carrier } from "../../../carrier/Carrier.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type * as Id from "../../../domain/Id.ts"
import { Journal, type StoredEntity } from "../../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../../runtime/store/list/Listing.ts"
import { type ConferenceRegistry, notFound } from "./ConferenceRegistry.ts"
import * as ConferenceRepo from "../stored/ConferenceRepo.ts"
import type { ConferenceState } from "../machine/ConferenceState.ts"
import * as ConferenceView from "../ConferenceView.ts"
import * as ParticipantView from "../ParticipantView.ts"
import * as StoredConference from "../stored/StoredConference.ts"
import * as Upstream from "../Upstream.ts"

/** Reads of conferences: from memory while they live, otherwise from their rows. */
export const make = Effect.fnUntraced(function* (registry: ConferenceRegistry) {
  const journal = yield* Journal
  const repo = yield* ConferenceRepo.make
  const carrier = yield* Carrier

  const ofRow = Effect.fnUntraced(function* (row: StoredEntity) {
    if (row.kind !== "conference") return yield* notFound
    const state = StoredConference.shown(row)
    return Result.isSuccess(state) ? state.success : StoredConference.rebuild(row, yield* repo.everyMember(row.id))
  })

  /** `tenantId` null: the conference may belong to any tenant, for the operator. */
  const found = Effect.fnUntraced(function* (tenantId: Id.TenantId | null, id: Id.ConferenceId) {
    const live = registry.live.get(id)?.state() ?? null
    const isOwn = (of: { readonly tenantId: Id.TenantId }) => tenantId === null || of.tenantId === tenantId
    if (live !== null) return isOwn(live) ? live : yield* notFound
    const row = yield* journal.find(id)
    return row === null || !isOwn(row) ? yield* notFound : yield* ofRow(row)
  })

  const shown = Effect.fnUntraced(function* (state: ConferenceState) {
    const room = ConferenceView.ofState(state, registry.nowOf(state))
    // The host's call of a live conference is too young to have been deleted by retention.
    return registry.live.has(state.id) ? room : ConferenceView.withHost(room, yield* repo.keptCalls([state.hostCallId]))
  })

  return {
    found,
    ofAnyTenant: (id: Id.ConferenceId) => Effect.flatMap(found(null, id), shown),
    find: (tenantId: Id.TenantId, id: Id.ConferenceId) => Effect.flatMap(found(tenantId, id), shown),
    list: Effect.fnUntraced(function* (...asked: Parameters<typeof repo.list>) {
      const page = yield* repo.list(...asked)
      const kept = yield* repo.keptCalls(page.results.flatMap(({ host_call_id }) => host_call_id ?? []))
      return { ...page, results: page.results.map((room) => ConferenceView.withHost(room, kept)) }
    }),
    participants: Effect.fnUntraced(function* (
      tenantId: Id.TenantId,
      id: Id.ConferenceId,
      filters: ConferenceRepo.ParticipantFilters,
      window: Listing.Window
    ) {
      const state = yield* found(tenantId, id)
      return yield* repo.participants(tenantId, id, filters, window, registry.speaking(id), registry.nowOf(state))
    }),
    participant: Effect.fnUntraced(function* (tenantId: Id.TenantId, id: Id.ConferenceId, memberId: Id.MemberId) {
      const state = yield* found(tenantId, id)
      const now = registry.nowOf(state)
      const member = state.members.find((other) => other.id === memberId)
      if (member !== undefined) return ParticipantView.ofMember(id, member, now)
      const row = yield* repo.participant(tenantId, id, memberId)
      return row === null ? yield* ApiError.of("member_not_found", "no such member") : ParticipantView.ofRow(row, now)
    }),
    upstream: Effect.fn("Conferences.upstream")(function* (
      tenantId: Id.TenantId,
      id: Id.ConferenceId,
      filters: Upstream.UpstreamFilters,
      page: { readonly number: number; readonly size: number }
    ) {
      const state = yield* found(tenantId, id)
      const owner = registry.ownerOf(id)
      // A settled conference has no room.
      const asked =
        owner === null
          ? null
          : yield* Effect.timeoutOrElse(carrier.rooms(state.adapter)?.snapshot(owner, [id]) ?? Effect.succeed(null), {
              duration: upstreamMs,
              orElse: () => Effect.succeed(null)
            })
      if (owner !== null && asked === null) return yield* unreachable
      const facts = asked?.rooms[id]?.members ?? []
      const shownPage = Upstream.page(state, facts, filters, page, yield* Clock.currentTimeMillis)
      return shownPage ?? (yield* ApiError.of("not_found", "page: beyond the last one", "page"))
    })
  } as const
})

const upstreamMs = 5_000
const unreachable = ApiError.of("upstream_error", "the carrier cannot be asked now")
