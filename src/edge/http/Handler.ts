import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { TenantId } from "../../domain/Id.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as JsonResponse from "./answer/JsonResponse.ts"
import * as Pagination from "./answer/Pagination.ts"
import { CurrentKey } from "./request/Authenticator.ts"
import { CurrentSlot } from "./request/CurrentSlot.ts"
import { Visitor } from "./Public.ts"

/** The shapes that handlers have. Each makes a handler from a function that calls a feature for the caller. */

/** Answers as `respond` does, for the caller's tenant. */
export const answer =
  <Request, E, R>(
    respond: (tenantId: TenantId, request: Request) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
  (request: Request) =>
    Effect.flatMap(CurrentKey, ({ tenantId }) => respond(tenantId, request))

/** Answers 200 with the value that is found for the caller's tenant. */
export const read = <Request, A, E, R>(find: (tenantId: TenantId, request: Request) => Effect.Effect<A, E, R>) =>
  answer((tenantId, request: Request) => Effect.map(find(tenantId, request), (value) => JsonResponse.of(value)))

/** Answers with a page of the tenant's rows. */
export const list = <Request extends Pagination.Request, A, E, R>(
  page: (
    tenantId: TenantId,
    window: Listing.Window,
    filters: Pagination.Filters<Request>,
    request: Request
  ) => Effect.Effect<Listing.Page<A>, E, R>
) =>
  answer((tenantId, request: Request) =>
    Pagination.answer(request, (window, filters) => page(tenantId, window, filters, request))
  )

/** Answers with a page of a list that is in memory. */
export const pageOf = <Request extends Pagination.Request, A, E, R>(
  all: (tenantId: TenantId, request: Request) => Effect.Effect<ReadonlyArray<A>, E, R>
) =>
  list((tenantId, window, _, request: Request) =>
    Effect.map(all(tenantId, request), (rows) => Pagination.pageOf(rows, window))
  )

/** Answers with a list that is always whole. */
export const whole = <Request, A, E, R>(
  all: (tenantId: TenantId, request: Request) => Effect.Effect<ReadonlyArray<A>, E, R>
) => answer((tenantId, request: Request) => Effect.map(all(tenantId, request), Pagination.whole))

/** Answers with the bytes that the change rendered and stored under the request's slot. */
export const write =
  <Request, E, R>(
    change: (caller: CurrentKey["Service"], request: Request, slot: Slot | null) => Effect.Effect<Rendered, E, R>
  ) =>
  (request: Request) =>
    Effect.gen(function* () {
      const caller = yield* CurrentKey
      const { slot } = yield* CurrentSlot
      return yield* JsonResponse.rendered(change(caller, request, slot))
    })

/** Answers on an endpoint without a key with the bytes that were rendered for the caller at this address. */
export const visit =
  <Request, E, R>(change: (request: Request, ip: string | null) => Effect.Effect<Rendered, E, R>) =>
  (request: Request) =>
    Effect.gen(function* () {
      const { ip } = yield* (yield* Visitor).admit
      return yield* JsonResponse.rendered(change(request, ip))
    })
