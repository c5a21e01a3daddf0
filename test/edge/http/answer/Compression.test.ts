import { gunzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Compression from "../../../../src/edge/http/answer/Compression.ts"
import * as JsonResponse from "../../../../src/edge/http/answer/JsonResponse.ts"

const rows = Array.from({ length: 100 }, (_, index) => ({ id: `svc_call_${index}`, status: "ended" }))
const bytes = (text: string) => new TextEncoder().encode(text)

const bodyOf = (response: HttpServerResponse.HttpServerResponse): Stream.Stream<Uint8Array, unknown> => {
  const { body } = response
  if (body._tag === "Uint8Array") return Stream.make(body.body)
  if (body._tag === "Stream") return body.stream
  throw new Error(body._tag)
}

const read = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.map(Stream.runCollect(bodyOf(response)), (chunks) => Buffer.concat([...chunks]))

const streamed = (stream: Stream.Stream<Uint8Array, unknown>, contentType = "application/json") =>
  HttpServerResponse.stream(stream, { contentType })

describe("The text of an answer", () => {
  it.effect("is compressed for a client that accepts gzip, and says for caches that it differs", () =>
    Effect.gen(function* () {
      const plain = JsonResponse.of({ results: rows })
      const zipped = yield* Compression.of("br, gzip;q=0.5")(plain)
      expect([zipped.headers["content-encoding"], zipped.headers["vary"]]).toEqual(["gzip", "accept-encoding"])
      const body = yield* read(zipped)
      expect(JSON.parse(gunzipSync(body).toString())).toEqual({ results: rows })
      expect(zipped.body).toMatchObject({ contentLength: body.length, contentType: "application/json" })
      for (const refused of [undefined, "", "br", "gzip;q=0"]) {
        const other = yield* Compression.of(refused)(plain)
        expect([other.headers["content-encoding"], other.headers["vary"]]).toEqual([undefined, "accept-encoding"])
        expect(other.body).toBe(plain.body)
      }
    })
  )

  it.effect("is left where it is short, is a file, or has a coding", () =>
    Effect.gen(function* () {
      const zip = Compression.of("gzip")
      for (const response of [
        JsonResponse.of({ results: [] }),
        HttpServerResponse.empty(),
        streamed(Stream.make(bytes("sound")), "audio/mpeg"),
        HttpServerResponse.setHeader(JsonResponse.of(rows), "content-encoding", "gzip")
      ])
        expect(yield* zip(response)).toBe(response)
    })
  )

  it.effect("that is streamed is read no faster than it is taken, and is given up with its client", () =>
    Effect.gen(function* () {
      let read = 0
      const isClosed = yield* Deferred.make<void>()
      const isTaken = yield* Deferred.make<void>()
      // Random bytes, because what shrinks to nothing would be taken at once.
      const source = Stream.fromEffectRepeat(
        Effect.sync(() => {
          read++
          return crypto.getRandomValues(new Uint8Array(65_536))
        })
      ).pipe(Stream.ensuring(Deferred.succeed(isClosed, undefined)))
      const zipped = yield* Compression.of("gzip")(streamed(source, "text/csv"))
      const client = yield* Effect.forkChild(
        Stream.runForEach(bodyOf(zipped), () => Effect.andThen(Deferred.succeed(isTaken, undefined), Effect.never))
      )
      yield* Deferred.await(isTaken)
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      expect(read).toBeLessThan(64)
      yield* Fiber.interrupt(client)
      yield* Deferred.await(isClosed)
    })
  )

  it.effect("that breaks off is no whole compressed text", () =>
    Effect.gen(function* () {
      const whole = yield* Compression.of("gzip")(streamed(Stream.make(bytes("[1,"), bytes("2]"))))
      expect(gunzipSync(yield* read(whole)).toString()).toBe("[1,2]")
      const broken = Stream.concat(Stream.make(bytes("[1,")), Stream.fail("the database is away"))
      expect(Exit.isFailure(yield* Effect.exit(read(yield* Compression.of("gzip")(streamed(broken)))))).toBe(true)
    })
  )
})
