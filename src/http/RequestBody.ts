import { isUtf8 } from "node:buffer"
import { ByteSize, Context, Effect } from "effect"
import {
  Headers,
  HttpEffect,
  HttpIncomingMessage,
  type HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { ApiError } from "../domain/ApiError.ts"
import * as JsonShape from "./JsonShape.ts"
import * as SchemaFault from "./SchemaFault.ts"

const noObject = ApiError.of("invalid_request", "the body must be a JSON object")
const unreadable = ApiError.of("invalid_request", "the body could not be read")
const notUtf8 = ApiError.of("invalid_request", "the body is not UTF-8 text")

/**
 * Reads the raw bytes once, up to `limit` bytes; the request keeps them, and the decoder that
 * comes after reads them from there.
 *
 * Fails with `invalid_request` when the body is longer than the limit, was cut off, is not UTF-8 (RFC 8259
 * section 8.1), is beyond `JsonShape.bounds`, is `null`, or has text that no database takes: NUL, or half a surrogate
 * pair, which escapes of JSON can spell. Nobody waits for the rest of a body that is too long: the answer ends the
 * connection.
 */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number
): Effect.Effect<Uint8Array, ApiError> => {
  if (Number(request.headers["content-length"]) > limit) return refuseTooLarge(request, limit)
  const whole = Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit))
  return Effect.matchEffect(whole, {
    onFailure: (error) => (isTooLarge(error) ? refuseTooLarge(request, limit) : Effect.fail(unreadable)),
    onSuccess: (buffer) => {
      const bytes = new Uint8Array(buffer)
      const fault = faultOf(bytes)
      return fault === null ? Effect.succeed(bytes) : Effect.fail(fault)
    }
  })
}

/** Bodies up to here are read beside each other: all that the service takes at once are not much memory together. */
const shortBytes = 512 * 1024

/**
 * Whether the body may be a long one: by its declared length, or, where it declares none, by what the endpoint takes. One
 * beyond the limit is never read.
 */
export const isLong = (request: HttpServerRequest.HttpServerRequest, limit: number): boolean => {
  const declared = Number(request.headers["content-length"] ?? limit)
  return declared > shortBytes && declared <= limit
}

const faultOf = (bytes: Uint8Array): ApiError | null => {
  if (!isUtf8(bytes)) return notUtf8
  const shape = JsonShape.fault(bytes)
  if (shape !== null) return ApiError.of("invalid_request", `the body ${shape}`)
  return isNull(bytes) ? noObject : unstorableText(bytes)
}

/**
 * An empty body is no body, whatever its content type says. The decoder behind `effect` would ask for JSON, so it is
 * not told.
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

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  "reason" in reason && reason.reason === "BodyTooLarge"

const refuseTooLarge = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<never, ApiError> =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "connection", "close"))
    ).pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, request)),
    Effect.fail(ApiError.of("invalid_request", `the body is longer than ${limit / 1024} KiB`))
  )

/** The decoders take `null` for an absent body, so it must not come as one. */
const isNull = (bytes: Uint8Array): boolean => {
  const [first] = bytes
  // "n", or white space before it, RFC 8259 section 2.
  if (first !== 0x6e && first !== 0x20 && first !== 0x09 && first !== 0x0a && first !== 0x0d) return false
  return /^[ \t\n\r]*null[ \t\n\r]*$/.test(Buffer.from(bytes).toString("latin1"))
}

type Path = ReadonlyArray<string | number>

/** Only an escape can spell such text; what is no JSON is the decoder's to refuse. */
const unstorableText = (bytes: Uint8Array): ApiError | null => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.includes("\\u")) return null
  const left: Array<readonly [path: Path, value: unknown]> = []
  try {
    left.push([[], JSON.parse(buffer.toString())])
  } catch {
    return null
  }
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, value] = next
    if (typeof value === "string" && !isStorable(value)) return unstorable(path)
    if (typeof value !== "object" || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      // The name of such a field cannot be told either.
      if (!isStorable(key)) return unstorable(path)
      left.push([[...path, Array.isArray(value) ? Number(key) : key], inner])
    }
  }
  return null
}

const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

const unstorable = (path: Path): ApiError => {
  const param = SchemaFault.nameOf(path)
  return ApiError.of(
    "invalid_request",
    `${param === "" ? "the body" : param}: has text with NUL or half a surrogate pair`,
    param === "" ? undefined : param
  )
}
