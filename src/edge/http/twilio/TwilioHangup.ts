import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { CommandTurns } from "../../../domain/fair/RequestTurns.ts"
import { Calls, CallVerbs } from "../../../telephony/call/Call.ts"
import { ApiError, httpStatus } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { Authenticator } from "../request/Authenticator.ts"
import * as MediaFault from "../request/MediaFault.ts"
import { ClientAddress } from "../connection/ClientAddress.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import type { Route } from "../RouteTable.ts"

/**
 * The only endpoint of Twilio's REST API that voice agents call by themselves: setting a call to `completed` hangs it
 * up, guide/streams.md#with-pipecat. It answers in Twilio's format, and is not part of the published document.
 *
 * The password of basic authentication is an API key; the account is not checked.
 */
const path = "/2010-04-01/Accounts/:account/Calls/:call"

export const routes: ReadonlyArray<Route> = [{ method: "POST", path }]

const mostOctets = 4096

/** RFC 7617 section 2; null when there is no such credential. */
const keyOf = (authorization: string): string | null => {
  const token = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)?.[1]
  if (token === undefined) return null
  const credentials = Buffer.from(token, "base64").toString("utf8")
  const colon = credentials.indexOf(":")
  return colon === -1 ? null : credentials.slice(colon + 1)
}

/** An ended call counts as missing, as on Twilio, because agents hang up calls that have ended. */
const gone = 20_404
const failureOf = (error: ApiError): HttpServerResponse.HttpServerResponse => {
  const isGone = error.code === "not_found" || error.code === "call_already_ended"
  const status = isGone ? 404 : httpStatus(error)
  return JsonResponse.of({ code: isGone ? gone : status * 100, message: error.message, status }, status)
}

const noCredential = ApiError.of("authentication_required", "send an API key as the password of basic authentication")
const lacksScope = ApiError.of("forbidden", "the API key lacks the scope calls:write")
const paused = ApiError.of("tenant_suspended", "this workspace is suspended")
const noCall = ApiError.of("not_found", "no such call")
const notCompleted = ApiError.of("invalid_request", "Status has to be completed", "Status")
const unreadable = ApiError.of("invalid_request", "the body could not be read")
const crowded = ApiError.of("service_unavailable", "too many requests are in progress; try again")

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const authenticator = yield* Authenticator
    const addresses = yield* ClientAddress
    const calls = yield* Calls
    const turns = yield* CommandTurns

    const complete = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const credential = keyOf(request.headers["authorization"] ?? "")
      if (credential === null) return yield* noCredential
      const key = yield* authenticator.authenticate(credential, addresses.of(request))
      if (!key.scopes.includes("calls:write") && !key.scopes.includes("*")) return yield* lacksScope
      if ((yield* authenticator.tenantStatus(key.tenantId)) !== "active") return yield* paused
      const coded = MediaFault.encoded(request)
      if (coded !== null) return yield* coded
      const body = yield* request.text.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(mostOctets)),
        Effect.mapError(() => unreadable)
      )
      const { account = "", call = "" } = yield* HttpRouter.params
      const callId = call.replace(/\.json$/, "")
      if (!Id.is("call", callId)) return yield* noCall
      if (new URLSearchParams(body).get("Status") !== "completed") return yield* notCompleted
      const hangUp = calls.act(key, callId, CallVerbs.action("hangup", {}), null)
      yield* turns
        .within(key.tenantId)(Effect.uninterruptible(hangUp))
        .pipe(Effect.catchTag("NoCapacity", () => Effect.fail(crowded)))
      return JsonResponse.of({ sid: callId, account_sid: account, status: "completed" })
    })
    yield* router.add(
      "POST",
      path,
      Effect.catchTag(complete, "ApiError", (error) => Effect.succeed(failureOf(error)))
    )
  })
)
