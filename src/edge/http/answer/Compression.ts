import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"

/** RFC 9110 section 12.5.3, for gzip only: it is named, and not with a weight of zero. */
export const takesGzip = (acceptEncoding: string | undefined): boolean =>
  (acceptEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((item) => item.split(";").map((part) => part.trim()))
    .some(([coding, ...parameters]) => coding === "gzip" && !parameters.some((part) => /^q=0(\.0*)?$/.test(part)))

/** A shorter answer gains nothing. */
const leastBytes = 1_024

/** Rows of JSON shrink to a tenth at the fourth level; the higher ones take twice the time for little. */
const level = 4

const compress = promisify(gzip)

/** Texts of rows. Files have forms of their own, and most of these are compressed already. */
const isText = (contentType: string | undefined): boolean => /^(application\/json|text\/csv)\b/.test(contentType ?? "")

/**
 * Compresses the text of an answer to a GET for a client that accepts gzip (`acceptEncoding`). An answer in memory is
 * compressed as a whole, outside of the thread that answers. A streamed one is compressed piece by piece as the client
 * takes it: its source is read no faster, and is given up when the client goes.
 */
export const of =
  (acceptEncoding: string | undefined) =>
  (response: HttpServerResponse.HttpServerResponse): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const { body, headers } = response
    if ((body._tag !== "Uint8Array" && body._tag !== "Stream") || headers["content-encoding"] !== undefined)
      return Effect.succeed(response)
    if (!isText(body.contentType) || (body.contentLength ?? leastBytes) < leastBytes) return Effect.succeed(response)
    // Shared caches keep both forms apart.
    const varied = HttpServerResponse.setHeader(response, "vary", "accept-encoding")
    if (!takesGzip(acceptEncoding)) return Effect.succeed(varied)
    const zipped = (to: HttpBody.HttpBody) =>
      HttpServerResponse.setHeader(HttpServerResponse.setBody(varied, to), "content-encoding", "gzip")
    return body._tag === "Uint8Array"
      ? Effect.map(
          Effect.promise(() => compress(body.body, { level })),
          (bytes) => zipped(HttpBody.uint8Array(bytes, body.contentType))
        )
      : Effect.succeed(zipped(HttpBody.stream(compressed(body.stream), body.contentType)))
  }

/** The reason for which a compressed answer broke off. */
class CompressionBroke extends Error {}

/** A stream that breaks off ends the compressed one with an error too, so that a part is not taken for all. */
const compressed = (source: Stream.Stream<Uint8Array, unknown>): Stream.Stream<Uint8Array, unknown> =>
  Stream.fromReadableStream({
    evaluate: () =>
      // The types of Node and those of the web differ in the buffer of the bytes alone.
      (Stream.toReadableStream(source) as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
        new CompressionStream("gzip")
      ),
    onError: (cause) => new CompressionBroke("the answer broke off", { cause })
  })
