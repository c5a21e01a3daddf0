import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import { downloadPath, fileKey, Recordings } from "../../../telephony/recording/Recording.ts"
import { Storage } from "../../../ports/storage/Storage.ts"
import * as LinkedFile from "../answer/LinkedFile.ts"
import * as ByteRange from "./ByteRange.ts"

export const route = LinkedFile.route(downloadPath)

const contentTypes = { mp3: "audio/mpeg", wav: "audio/wav" } as const

const away = ApiError.of("service_unavailable", "the store of recordings cannot be reached; try again")

/**
 * Serves the files of recordings to every holder of a link (guide/recordings.md#downloading). They come out of the
 * store through this service, so that a store may be private and a deleted recording is gone at once.
 */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const recordings = yield* Recordings
    const storage = yield* Storage

    const serve = Effect.gen(function* () {
      const link = yield* LinkedFile.link
      const { headers, method } = yield* HttpServerRequest.HttpServerRequest
      const row = yield* recordings.linked(link)
      if (row === null) return yield* LinkedFile.nothing
      const etag = `"${row.id}"`
      const ifRange = headers["if-range"]
      const asked = ByteRange.of(
        ifRange === undefined || ifRange === etag ? headers["range"] : undefined,
        row.sizeBytes
      )
      const shared = {
        "accept-ranges": "bytes",
        ...LinkedFile.headers(link.file),
        etag
      }
      if (asked.type === "beyond")
        return HttpServerResponse.empty({
          status: 416,
          headers: { ...shared, "content-range": `bytes */${row.sizeBytes}` }
        })
      const range = asked.type === "part" ? { from: asked.from, to: asked.to } : null
      const length = range === null ? row.sizeBytes : range.to - range.from + 1
      const answered = {
        status: range === null ? 200 : 206,
        contentType: contentTypes[row.format],
        contentLength: length,
        headers:
          range === null ? shared : { ...shared, "content-range": `bytes ${range.from}-${range.to}/${row.sizeBytes}` }
      }
      if (method === "HEAD")
        return HttpServerResponse.empty({
          status: answered.status,
          headers: { ...answered.headers, "content-type": answered.contentType, "content-length": String(length) }
        })
      const { body } = yield* Effect.catchTag(storage.open(fileKey(row), range), "StorageError", ({ reason }) =>
        reason === "missing" ? Effect.andThen(recordings.gone(row.id), LinkedFile.nothing) : Effect.fail(away)
      )
      return HttpServerResponse.stream(body, answered)
    })
    yield* router.add("GET", route.path as `/${string}`, serve)
  })
).pipe(Layer.orDie)
