import { Cause, Clock, Context, Effect, Fiber, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import type { FairSemaphore } from "../../../domain/fair/FairSemaphore.ts"
import * as Pace from "../../../domain/fair/Pace.ts"
import { BodyTurns, CommandTurns, LoudTenants, RequestTurns } from "../../../domain/fair/RequestTurns.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as Overdue from "../../../runtime/process/Overdue.ts"
import * as Slot from "../../../runtime/idempotency/Slot.ts"
import * as WritePermit from "../../../runtime/process/WritePermit.ts"
import * as Answer from "../answer/Answer.ts"
import * as Compression from "../answer/Compression.ts"
import * as LongAnswer from "../answer/LongAnswer.ts"
import { Authenticator, CurrentKey } from "./Authenticator.ts"
import { ClientAddress } from "../connection/ClientAddress.ts"
import { CurrentFile } from "./CurrentFile.ts"
import { CurrentSlot } from "./CurrentSlot.ts"
import * as EdgeMetrics from "../EdgeMetrics.ts"
import type { EndpointScope } from "../../../domain/Scope.ts"
import { BodyLimit, FileField, RequiredScope, ServesSuspended } from "../Endpoint.ts"
import * as IdempotencyMiddleware from "./IdempotencyMiddleware.ts"
import { ApiErrorSchema } from "../answer/ApiErrorSchema.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as RequestBody from "./RequestBody.ts"
import * as FileThread from "../thread/FileThread.ts"

/**
 * Guards every endpoint that requires an API key. The checks run in this order,
 * guide/authentication.md#order-of-checks: 401, 403 scope, 403 tenant, 400 request, then the endpoint's own errors.
 *
 * The Idempotency-Key is honoured on POST, PUT, PATCH and DELETE and covers every answer except the 401.
 *
 * Tenants take turns. The work of a request begins when its turn comes, and never begins if its client has disconnected
 * by then. A request whose turn does not come in time is a 503.
 *
 * The first three checks are made when the head of a request has come, so that no body is read in vain, when its body
 * and its turn have come, because a key may be revoked meanwhile, and when it is about to write (`WritePermit`). A long
 * answer makes them again and again while it is sent (`LongAnswer`).
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
      const reads = yield* RequestTurns
      const commands = yield* CommandTurns
      const bodies = yield* BodyTurns
      const loud = yield* LoudTenants
      const files = yield* FileThread.make
      const pace = Pace.make()
      const heard = <A, E, R>(tenantId: string, effect: Effect.Effect<A, E, R>) =>
        Clock.clockWith((clock) => {
          const began = Monotonic.read(clock)
          return Effect.ensuring(
            effect,
            Effect.sync(() => {
              const now = Monotonic.read(clock)
              loud.add(tenantId, now - began, now)
            })
          )
        })
      const placed = <A, E, R>(turns: FairSemaphore, key: CurrentKey["Service"], effect: Effect.Effect<A, E, R>) =>
        turns
          .within(key.tenantId)(effect)
          .pipe(Effect.catchTag("NoCapacity", () => Effect.andThen(EdgeMetrics.refuse("turn"), Effect.fail(crowded))))
      const inTurn = <A, E, R>(turns: FairSemaphore, key: CurrentKey["Service"], effect: Effect.Effect<A, E, R>) =>
        placed(turns, key, heard(key.tenantId, effect))

      const identify = (request: HttpServerRequest.HttpServerRequest, credential: string | null) =>
        credential === null ? Effect.fail(noCredential) : authenticator.authenticate(credential, addresses.of(request))

      const refuses = (key: CurrentKey["Service"], endpoint: Declared) => {
        if (!key.scopes.includes(endpoint.scope) && !key.scopes.includes("*"))
          return Effect.succeed(ApiError.of("forbidden", `the API key lacks the scope ${endpoint.scope}`))
        return Effect.map(authenticator.tenantStatus(key.tenantId), (status) => {
          if (status === "active" || (endpoint.servesSuspended && (status === "suspended" || endpoint.reads)))
            return null
          return status === "closed" ? closed : paused
        })
      }

      /** Fails with 401. `refusal` is a 403, or a fault of the URL; null when there is none. */
      const judge = Effect.fnUntraced(function* (
        request: HttpServerRequest.HttpServerRequest,
        credential: string | null,
        endpoint: HttpApiEndpoint.Top,
        declared: Declared
      ): Effect.fn.Return<Judged, ApiError> {
        const key = yield* identify(request, credential)
        return { key, refusal: (yield* refuses(key, declared)) ?? Answer.urlFault(endpoint, request.url) }
      })

      return Authenticated.of((httpEffect, { endpoint }) => {
        const declared = declaredBy(endpoint)
        const measured = EdgeMetrics.measured(endpoint)
        const answer = Answer.of(httpEffect)
        const withCaller = (
          key: CurrentKey["Service"],
          slot: Slot.Slot | null,
          judged: Effect.Effect<Judged, ApiError>,
          compress: ReturnType<typeof Compression.of> = Effect.succeed
        ) => {
          const permit: WritePermit.Permit = { check: refusalOf(key, judged), isUsed: false }
          const sent = Effect.map(Effect.flatMap(orRefused(answer), compress), (response) =>
            LongAnswer.whileAllowed(response, permit.check)
          )
          return Effect.updateContext(sent, (context: Context.Context<never>) =>
            Context.mergeAll(
              context,
              Context.make(CurrentKey, key),
              Context.make(CurrentSlot, { slot }),
              Context.make(WritePermit.WritePermit, permit)
            )
          )
        }

        const read = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
          const judged = judge(request, credentialOf(request), endpoint, declared)
          const { key, refusal } = yield* judged
          if (refusal !== null) return yield* refusal
          const run = Effect.flatMap(judged, (now) =>
            now.refusal === null
              ? withCaller(now.key, null, judged, Compression.of(request.headers["accept-encoding"]))
              : Effect.fail(now.refusal)
          )
          return yield* inTurn(reads, key, run)
        })

        const write = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
          const credential = credentialOf(request)
          const judged = judge(request, credential, endpoint, declared)
          const { key, refusal } = yield* judged
          const idempotencyKey = yield* Effect.mapError(
            IdempotencyMiddleware.keyOf(request),
            (error) => refusal ?? error
          )
          if (idempotencyKey === null && refusal !== null) return yield* refusal
          const all = change(request, { key, credential: credential ?? "", judged, refusal, idempotencyKey })
          return yield* RequestBody.isLong(request, declared.bodyBytes) ? placed(bodies, key, all) : all
        })

        /**
         * Reads the body. `body` is its bytes, or the hash under the Idempotency-Key where it holds a file; `within`
         * runs the endpoint with it.
         */
        const bodyOf = Effect.fnUntraced(function* (
          request: HttpServerRequest.HttpServerRequest,
          { idempotencyKey, key }: Pick<Known, "idempotencyKey" | "key">
        ) {
          if (declared.fileField === null) {
            const body = yield* RequestBody.read(request, declared.bodyBytes)
            return {
              body,
              within: <A, E, R>(effect: Effect.Effect<A, E, R>) => RequestBody.withoutEmpty(request, body, effect)
            }
          }
          const ask = (read: () => number) => pace.ask(key.tenantId, read)
          const arriving = RequestBody.chunks(request, declared.bodyBytes, ask)
          const chunks = yield* RequestBody.isLong(request, declared.bodyBytes)
            ? arriving.pipe(
                Overdue.within(bodies, key.tenantId, RequestBody.progress(request)),
                Effect.catchTag("Overdue", () => RequestBody.refuseSlow(request))
              )
            : arriving
          const unpacked = yield* files.unpack({ chunks, field: declared.fileField, idempotencyKey })
          if (unpacked.type === "refused")
            return yield* ApiError.of("invalid_request", unpacked.message, unpacked.param ?? undefined)
          const { bodyHash, file, text } = unpacked
          return {
            body: bodyHash ?? "",
            within: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
              RequestBody.withText(request, text, Effect.provideService(effect, CurrentFile, file))
          }
        })

        const change = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, known: Known) {
          const { credential, idempotencyKey, judged, key, refusal } = known
          if (idempotencyKey === null) {
            const { within } = yield* bodyOf(request, known)
            const run = Effect.flatMap(judged, (now) =>
              now.refusal === null ? within(withCaller(now.key, null, judged)) : Effect.fail(now.refusal)
            )
            return yield* inTurn(commands, key, Effect.uninterruptible(run))
          }
          const { body, within } = yield* bodyOf(request, known).pipe(Effect.mapError((error) => refusal ?? error))
          const slot = Slot.make({
            owner: key.keyId,
            credential,
            idempotencyKey,
            method: request.method,
            path: IdempotencyMiddleware.pathOf(request),
            body
          })
          const run = Effect.flatMap(judged, (now) =>
            once(slot, now.refusal === null ? within(withCaller(now.key, slot, judged)) : Effect.fail(now.refusal))
          )
          return yield* inTurn(commands, key, Effect.uninterruptible(run))
        })

        const run = endpoint.method === "GET" ? read : write
        return measured(
          Effect.catch(
            Effect.suspend(() => run(currentRequest())),
            (error) => Effect.succeed(JsonResponse.refuse(error))
          )
        )
      })
    })
  )
}

/** The facts about a changing request that are known before its body is read. */
interface Known extends Judged {
  readonly credential: string
  readonly idempotencyKey: string | null
  /** Judges the request again. */
  readonly judged: Effect.Effect<Judged, ApiError>
}

interface Judged {
  readonly key: CurrentKey["Service"]
  readonly refusal: ApiError | null
}

/**
 * Why a request that was judged with this key may not write any more. A request whose judgement cannot be made now is
 * refused with 503, because nothing has happened yet.
 */
const refusalOf = (
  key: CurrentKey["Service"],
  judged: Effect.Effect<Judged, ApiError>
): Effect.Effect<ApiError | null> =>
  Effect.matchCause(judged, {
    onFailure: (cause) => {
      const error = Cause.squash(cause)
      return error instanceof ApiError ? error : unsure
    },
    onSuccess: (now) => now.refusal ?? (key.scopes.every((scope) => now.key.scopes.includes(scope)) ? null : less)
  })

/** Answers a request whose transaction was rolled back because it may not write any more. */
const orRefused = <A, R>(effect: Effect.Effect<A, ApiError, R>): Effect.Effect<A, ApiError, R> =>
  Effect.catchCause(effect, (cause) => {
    const error = Cause.squash(cause)
    return error instanceof WritePermit.WriteRefused ? Effect.fail(error.error) : Effect.failCause(cause)
  })

interface Declared {
  readonly scope: EndpointScope
  readonly servesSuspended: boolean
  readonly reads: boolean
  readonly bodyBytes: number
  readonly fileField: string | null
}

const declaredBy = (endpoint: HttpApiEndpoint.Top): Declared => {
  const scope = Context.getOrUndefined(endpoint.annotations, RequiredScope)
  if (scope === undefined || scope === null)
    throw new Error(`${endpoint.method} ${endpoint.path} asks for a key and declares no scope`)
  return {
    scope,
    servesSuspended: Context.get(endpoint.annotations, ServesSuspended),
    reads: endpoint.method === "GET",
    bodyBytes: Context.get(endpoint.annotations, BodyLimit),
    fileField: Context.get(endpoint.annotations, FileField)
  }
}

const currentRequest = (): HttpServerRequest.HttpServerRequest => {
  const fiber = Fiber.getCurrent()
  if (fiber === undefined) throw new Error("no fiber runs")
  return Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
}

/** RFC 6750 section 2.1: `Bearer`, in any case, and one token. Any other form counts as no credential. */
const bearer = /^bearer +([\x21-\x7e]+) *$/i

const credentialOf = (request: HttpServerRequest.HttpServerRequest): string | null =>
  bearer.exec(request.headers["authorization"] ?? "")?.[1] ?? null

const noCredential = ApiError.of("authentication_required", "send Authorization: Bearer <API key>")
const crowded = ApiError.of("service_unavailable", "too many requests are in progress; try again")
const unsure = ApiError.of("service_unavailable", "the key cannot be looked up at the moment; nothing has happened")
const less = ApiError.of("forbidden", "the key may do less than when the request came")
const closed = ApiError.of("tenant_suspended", "this workspace is closed")
const paused = ApiError.of("tenant_suspended", "this workspace is suspended; GET /v1/account says why")
