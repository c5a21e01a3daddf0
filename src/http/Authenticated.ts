import { Context, Effect, Fiber, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import { ApiError } from "../domain/ApiError.ts"
import * as Slot from "../idempotency/Slot.ts"
import * as Answer from "./Answer.ts"
import { Authenticator, CurrentKey } from "./Authenticator.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { CurrentSlot } from "./CurrentSlot.ts"
import type { EndpointScope } from "../domain/Scope.ts"
import { RequiredScope, ServesSuspended } from "./Endpoint.ts"
import * as IdempotencyMiddleware from "./IdempotencyMiddleware.ts"
import { ApiErrorSchema } from "./ApiErrorSchema.ts"
import * as JsonResponse from "./JsonResponse.ts"
import * as RequestBody from "./RequestBody.ts"

/**
 * Every endpoint that asks for a key, guide/authentication.md#order-of-checks: 401, 403 scope, 403 tenant, 400 request,
 * and then what the endpoint itself says.
 *
 * The Idempotency-Key is honoured on POST, PUT, PATCH and DELETE and covers all but the 401.
 */
export class Authenticated extends HttpApiMiddleware.Service<Authenticated, { provides: CurrentKey | CurrentSlot }>()(
  "trunkline/http/Authenticated",
  { error: ApiErrorSchema }
) {
  static readonly layer = Layer.effect(
    Authenticated,
    Effect.gen(function* () {
      const authenticator = yield* Authenticator
      const addresses = yield* ClientAddress
      const once = yield* IdempotencyMiddleware.once

      const identify = (request: HttpServerRequest.HttpServerRequest, credential: string | null) =>
        credential === null ? Effect.fail(noCredential) : authenticator.authenticate(credential, addresses.of(request))

      const refuses = (key: CurrentKey["Service"], endpoint: Declared) => {
        if (!key.scopes.includes(endpoint.scope) && !key.scopes.includes("*"))
          return Effect.succeed(ApiError.of("forbidden", `the API key lacks the scope ${endpoint.scope}`))
        return endpoint.servesSuspended
          ? Effect.succeed(null)
          : Effect.map(authenticator.tenantStatus(key.tenantId), (status) => (status === "active" ? null : paused))
      }

      return Authenticated.of((httpEffect, { endpoint }) => {
        const declared = declaredBy(endpoint)
        const answer = Answer.of(httpEffect)
        const withCaller = (key: CurrentKey["Service"], slot: Slot.Slot | null) =>
          Effect.updateContext(answer, (context: Context.Context<never>) =>
            Context.add(Context.add(context, CurrentKey, key), CurrentSlot, { slot })
          )

        const read = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
          const key = yield* identify(request, credentialOf(request))
          const early = (yield* refuses(key, declared)) ?? Answer.urlFault(endpoint, request.url)
          return early === null ? yield* withCaller(key, null) : yield* Effect.fail(early)
        })

        const write = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
          const credential = credentialOf(request)
          const key = yield* identify(request, credential)
          const early = (yield* refuses(key, declared)) ?? Answer.urlFault(endpoint, request.url)
          const idempotencyKey = yield* IdempotencyMiddleware.keyOf(request)
          if (idempotencyKey === null) {
            if (early !== null) return yield* Effect.fail(early)
            const body = yield* RequestBody.read(request)
            return yield* Effect.uninterruptible(RequestBody.withoutEmpty(request, body, withCaller(key, null)))
          }
          const body = yield* RequestBody.read(request).pipe(Effect.mapError((error) => early ?? error))
          const slot = Slot.make({
            owner: key.keyId,
            credential: credential ?? "",
            idempotencyKey,
            method: request.method,
            path: IdempotencyMiddleware.pathOf(request),
            body
          })
          return yield* once(
            slot,
            early === null ? RequestBody.withoutEmpty(request, body, withCaller(key, slot)) : Effect.fail(early)
          )
        })

        const run = endpoint.method === "GET" ? read : write
        return Effect.catch(
          Effect.suspend(() => run(currentRequest())),
          (error) => Effect.succeed(JsonResponse.respond(JsonResponse.renderError(error)))
        )
      })
    })
  )
}

interface Declared {
  readonly scope: EndpointScope
  readonly servesSuspended: boolean
}

const declaredBy = (endpoint: HttpApiEndpoint.Top): Declared => {
  const scope = Context.getOrUndefined(endpoint.annotations, RequiredScope)
  if (scope === undefined || scope === null)
    throw new Error(`${endpoint.method} ${endpoint.path} asks for a key and declares no scope`)
  return { scope, servesSuspended: Context.get(endpoint.annotations, ServesSuspended) }
}

const currentRequest = (): HttpServerRequest.HttpServerRequest => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined) throw new Error("no fiber runs")
  return Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
}

/** RFC 6750 section 2.1: `Bearer`, in any case, and one token; anything else is no credential at all. */
const bearer = /^bearer +([\x21-\x7e]+) *$/i

const credentialOf = (request: HttpServerRequest.HttpServerRequest): string | null =>
  bearer.exec(request.headers["authorization"] ?? "")?.[1] ?? null

const noCredential = ApiError.of("authentication_required", "send Authorization: Bearer <API key>")
const paused = ApiError.of("tenant_suspended", "this workspace is suspended; GET /v1/account says why")
