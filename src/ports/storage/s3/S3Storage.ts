import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { Clock, Effect, Layer, Redacted, Stream } from "effect"
import type { Asked, EgressError, EgressResponse } from "../../egress/Egress.ts"
import { OperatorEgress } from "../../egress/OperatorEgress.ts"
import type { OperatorTarget } from "../../egress/OperatorTarget.ts"
import { type LocalFile, type Range, Storage, StorageError } from "../Storage.ts"
import * as RequestSignature from "./RequestSignature.ts"

/** A bucket of a store with the protocol of Amazon S3. */
export interface S3Store {
  /** The bucket, in path style: `https://host[:port]/bucket[/prefix]`. */
  readonly target: OperatorTarget
  /**
   * The host and path of the bucket, for signatures: as in the `Host` header, and without a slash at the end of the
   * path.
   */
  readonly host: string
  readonly path: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
}

/** The limits of an answer without a file. */
const shortMs = 30_000
const shortBytes = 65_536
/** How long the other side may take or give nothing. */
const idleMs = 30_000
const transferMs = 3_600_000
const largestBytes = 2 ** 33
const chunkBytes = 65_536

const unavailable = (detail: string) => new StorageError({ reason: "unavailable", detail })
const missing = (key: string) => new StorageError({ reason: "missing", detail: key })
const fromEgress = (error: EgressError) => unavailable(error.message)
const fromFile = (error: unknown) => unavailable(error instanceof Error ? error.message : String(error))

/**
 * The smallest clock difference that is corrected. Stores refuse a signature of another time, Amazon's beyond 15
 * minutes.
 */
const skewMs = 300_000

const contentRange = /^bytes ([0-9]+)-([0-9]+)\/([0-9]+)$/

/** The size of the whole object, from the head of an answer with the requested bytes; null: it has other bytes. */
const sizeOf = (status: number, headers: Readonly<Record<string, string>>, range: Range | null): number | null => {
  if (range === null) {
    const length = headers["content-length"] ?? ""
    return status === 200 && /^[0-9]+$/.test(length) ? Number(length) : null
  }
  const [, from, to, size] = contentRange.exec(headers["content-range"] ?? "") ?? []
  return status === 206 && Number(from) === range.from && Number(to) === range.to ? Number(size) : null
}

const read = (path: string) =>
  Stream.fromAsyncIterable<Uint8Array, StorageError>(createReadStream(path, { highWaterMark: chunkBytes }), fromFile)

const hashOf = (path: string) =>
  Effect.suspend(() => {
    const sum = createHash("sha256")
    return Effect.map(
      Stream.runForEach(read(path), (chunk) => Effect.sync(() => void sum.update(chunk))),
      () => sum.digest("hex")
    )
  })

/**
 * Any store with the protocol of Amazon S3: each object is put in one request with its length and its SHA-256, signed
 * (`Signature`), over the operator's egress. A store that is slow, refuses or gives an answer that makes no sense is
 * `unavailable`, and the caller tries again.
 *
 * When a store refuses and its clock differs from ours by more than five minutes, the request is repeated once in the
 * store's time, and later requests use that time. So a wrong clock does not stop recordings.
 */
export const layer = (config: S3Store) =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const client = yield* (yield* OperatorEgress).open(config.target)
      const credentials = {
        accessKeyId: config.accessKeyId,
        secretAccessKey: Redacted.value(config.secretAccessKey),
        region: config.region
      }

      /** How far the store's clock is ahead of ours. */
      let aheadMs = 0
      /** True when our time may be the reason of a refusal; from then on the store's time is used. */
      const isOfOtherTime = ({ headers, status }: Pick<EgressResponse, "headers" | "status">) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const ahead = Date.parse(headers["date"] ?? "") - now
          if (status !== 403 || !(Math.abs(ahead - aheadMs) > skewMs)) return false
          aheadMs = ahead
          return true
        })
      /** Sends the request, and once more when our time is refused. */
      const inTime = <A extends Pick<EgressResponse, "headers" | "status">, E, R>(asking: Effect.Effect<A, E, R>) =>
        Effect.flatMap(asking, (answer) =>
          Effect.flatMap(isOfOtherTime(answer), (isAgain) => (isAgain ? asking : Effect.succeed(answer)))
        )

      const signed = (
        method: Asked["method"],
        key: string,
        headers: Readonly<Record<string, string>> = {},
        bodyHash = RequestSignature.ofNothing
      ) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          const path = `/${RequestSignature.pathOf(key)}`
          return {
            method,
            path,
            headers: RequestSignature.sign(credentials, {
              method,
              path: config.path + path,
              headers: { ...headers, host: config.host },
              bodyHash,
              at: at + aheadMs
            })
          }
        })

      const ask = (method: Asked["method"], key: string, headers?: Readonly<Record<string, string>>) =>
        inTime(
          Effect.flatMap(signed(method, key, headers), (request) =>
            Effect.mapError(
              client.request({
                ...request,
                timeoutMs: shortMs,
                maxResponseBytes: shortBytes,
                // The body names the error, so it has the whole time.
                truncate: { afterMs: shortMs }
              }),
              fromEgress
            )
          )
        )

      const put = Effect.fnUntraced(function* (key: string, { contentType, path, sizeBytes }: LocalFile) {
        const sum = yield* hashOf(path)
        const lengths = { "content-type": contentType, "content-length": String(sizeBytes) }
        const { status } = yield* inTime(
          Effect.gen(function* () {
            const request = yield* signed("PUT", key, lengths, sum)
            const { "content-length": _, ...headers } = request.headers
            const answer = yield* client.stream({
              ...request,
              headers,
              timeoutMs: transferMs,
              idleMs,
              maxResponseBytes: shortBytes,
              body: { stream: read(path), length: sizeBytes }
            })
            yield* Stream.runDrain(answer.body)
            return answer
          })
        )
        if (status !== 200 && status !== 201) return yield* unavailable(`PUT answered ${status}`)
      })

      const remove = Effect.fnUntraced(function* (key: string) {
        const { status } = yield* ask("DELETE", key)
        if (status !== 204 && status !== 200 && status !== 404) return yield* unavailable(`DELETE answered ${status}`)
      })

      const isThere = Effect.fnUntraced(function* (key: string) {
        const { status } = yield* ask("HEAD", key)
        if (status === 200) return true
        return status === 404 ? false : yield* unavailable(`HEAD answered ${status}`)
      })

      return Storage.of({
        put: (key, file) =>
          Effect.scoped(put(key, file)).pipe(
            Effect.mapError((error) => (error._tag === "EgressError" ? fromEgress(error) : error))
          ),
        open: Effect.fnUntraced(function* (key, range) {
          const part = range === null ? {} : { range: `bytes=${range.from}-${range.to}` }
          const answer = yield* inTime(
            Effect.flatMap(signed("GET", key, part), (request) =>
              Effect.mapError(
                client.stream({ ...request, timeoutMs: transferMs, idleMs, maxResponseBytes: largestBytes }),
                fromEgress
              )
            )
          )
          if (answer.status === 404) return yield* missing(key)
          const sizeBytes = sizeOf(answer.status, answer.headers, range)
          if (sizeBytes === null) return yield* unavailable(`GET answered ${answer.status}`)
          return { sizeBytes, body: Stream.mapError(answer.body, fromEgress) }
        }),
        move: Effect.fnUntraced(function* (from, to) {
          const { body, status } = yield* ask("PUT", to, {
            "x-amz-copy-source": `${config.path}/${RequestSignature.pathOf(from)}`
          })
          if (status === 404) return (yield* isThere(to)) ? undefined : yield* missing(from)
          // The answer to a copy may begin with 200 and still report a failure.
          if (status !== 200 || !new TextDecoder().decode(body).includes("CopyObjectResult"))
            return yield* unavailable(`a copy was answered ${status}`)
          yield* remove(from)
        }),
        remove
      })
    })
  )
