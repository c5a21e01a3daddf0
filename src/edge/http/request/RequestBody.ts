import { ByteSize, Context, Effect } from "effect"
import {
  Headers,
  HttpEffect,
  HttpIncomingMessage,
  type HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import { IncomingMessage } from "node:http"
import { finished } from "node:stream"
import * as Pace from "../../../domain/fair/Pace.ts"
import * as BodyFault from "./BodyFault.ts"
import * as MediaFault from "./MediaFault.ts"

const unreadable = ApiError.of("invalid_request", "the body could not be read")

/**
 * Reads the raw bytes once, up to `limit` bytes. The request keeps them, and the decoder reads them from there.
 *
 * Fails with `invalid_request` when the body is longer than the limit, was cut off, or has a `MediaFault` or a
 * `BodyFault`. The rest of a body that is too long is not waited for.
 */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<Uint8Array, ApiError> =>
  Effect.flatMap(take(request, limit), (bytes) => {
    if (bytes.length === 0) return Effect.succeed(bytes)
    const media = MediaFault.of(request)
    if (media !== null) return refuse(request, media)
    const fault = BodyFault.of(bytes)
    return fault === null ? Effect.succeed(bytes) : Effect.fail(fault)
  })

/** Refuses a body by its headers. A 415 says that a body is taken as it is. */
const refuse = (request: HttpServerRequest.HttpServerRequest, fault: ApiError): Effect.Effect<never, ApiError> =>
  fault.status === 415
    ? Effect.andThen(answering(request, "accept-encoding", "identity"), Effect.fail(fault))
    : Effect.fail(fault)

const take = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<Uint8Array<ArrayBuffer>, ApiError> => {
  if (Number(request.headers["content-length"]) > limit) return refuseTooLarge(request, limit)
  const whole = Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit))
  return Effect.matchEffect(whole, {
    onFailure: (error) => (isTooLarge(error) ? refuseTooLarge(request, limit) : Effect.fail(unreadable)),
    onSuccess: (buffer) => Effect.succeed(new Uint8Array(buffer))
  })
}

/**
 * The chunks of a long body as they arrive, uninspected, each in memory of its own. Tenants share the turns of the
 * event loop in which chunks are read, so that many such bodies at once delay nothing else. Fails as `read` does.
 */
export const chunks = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  ask: (read: () => number) => () => void
): Effect.Effect<ReadonlyArray<Uint8Array<ArrayBuffer>>, ApiError> => {
  const { source } = request
  if (!(source instanceof IncomingMessage)) return Effect.map(take(request, limit), (bytes) => [bytes])
  if (Number(request.headers["content-length"]) > limit) return refuseTooLarge(request, limit)
  return Effect.callback<ReadonlyArray<Uint8Array<ArrayBuffer>>, ApiError>((resume) => {
    const taken: Array<Uint8Array<ArrayBuffer>> = []
    let length = 0
    const stop = Pace.follow(source, ask, (chunk) => {
      length += chunk.length
      if (length <= limit) return void taken.push(owned(chunk))
      leave()
      // Further bytes are discarded until the answer ends the connection.
      source.resume()
      resume(refuseTooLarge(request, limit))
    })
    const unwatch = finished(source, { writable: false }, (error) => {
      leave()
      const media = length === 0 ? null : MediaFault.of(request)
      if (error !== null && error !== undefined) resume(Effect.fail(unreadable))
      else resume(media === null ? Effect.succeed(taken) : refuse(request, media))
    })
    const leave = () => {
      stop()
      unwatch()
    }
    return Effect.sync(leave)
  })
}

/** A short chunk shares its memory with others (Buffer.poolSize), so it is copied. */
const owned = (chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  chunk.buffer.byteLength === chunk.byteLength ? chunk : Uint8Array.from(chunk)

/** Reads how much of the body has come. Null: the request has no socket. */
export const progress = ({
  source
}: HttpServerRequest.HttpServerRequest): (() => { readonly bytes: number; readonly isBuffered: boolean }) | null =>
  source instanceof IncomingMessage
    ? () => ({ bytes: source.socket.bytesRead, isBuffered: source.readableLength > 0 })
    : null

const tooSlow = ApiError.of("service_unavailable", "the body came too slowly while others waited; send it again")

/** Ends a body that came too slowly, with its connection. */
export const refuseSlow = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<never, ApiError> =>
  Effect.andThen(answering(request, "connection", "close"), Effect.fail(tooSlow))

/** Bodies up to this size are read concurrently: all that the service accepts at once take little memory together. */
const shortBytes = 512 * 1024

/**
 * Whether the body may be a long one, by its declared length or, without one, by the endpoint's limit. A body beyond
 * the limit is never read.
 */
export const isLong = (request: HttpServerRequest.HttpServerRequest, limit: number): boolean => {
  const declared = Number(request.headers["content-length"] ?? limit)
  return declared > shortBytes && declared <= limit
}

/**
 * Treats an empty body as no body, whatever its content type says. The content type is removed, because the decoder in
 * `effect` would ask for JSON.
 */
export const withoutEmpty = <A, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  body: Uint8Array,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  body.length > 0 || request.headers["content-type"] === undefined
    ? effect
    : Effect.updateContext(effect, (context: Context.Context<R>) =>
        Context.add(
          context,
          HttpServerRequest.HttpServerRequest,
          request.modify({ headers: Headers.remove(request.headers, "content-type") })
        )
      )

/** Runs the effect with this text as the request's body. */
export const withText = <A, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  text: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.updateContext(effect, (context: Context.Context<R>) => {
    const shorter = HttpServerRequest.fromWeb(
      new Request(new URL(request.url, "http://localhost"), { method: request.method, body: text })
    )
    const headers = text === "" ? Headers.remove(request.headers, "content-type") : request.headers
    return Context.add(context, HttpServerRequest.HttpServerRequest, shorter.modify({ url: request.url, headers }))
  })

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  "reason" in reason && reason.reason === "BodyTooLarge"

/**
 * Discards the rest of a body that is a little too long (`ConnectionGuard`, `lingerMs`), because many clients read
 * nothing before they have sent everything. For a longer one, the answer ends the connection.
 */
const refuseTooLarge = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<never, ApiError> => {
  const tooLong = ApiError.of("invalid_request", `the body is longer than ${limit / 1024} KiB`)
  const refused = refuse(request, MediaFault.of(request) ?? tooLong)
  if (Number(request.headers["content-length"]) <= 2 * limit)
    return Effect.suspend(() => {
      if (request.source instanceof IncomingMessage) request.source.resume()
      return refused
    })
  return Effect.andThen(answering(request, "connection", "close"), refused)
}

/** Sets a header of the answer, whatever it will be. */
const answering = (request: HttpServerRequest.HttpServerRequest, name: string, value: string) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, name, value))
  ).pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, request))
