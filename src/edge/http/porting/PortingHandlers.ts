import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ApiError } from "../../../domain/ApiError.ts"
import { type DocumentSource, Porting, portability } from "../../../numbers/porting/Porting.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentFile, type File } from "../request/CurrentFile.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as Pagination from "../answer/Pagination.ts"

const sourceOf = (
  payload: {
    readonly contentBase64?: string
    readonly url?: string
  },
  file: File | null
): Effect.Effect<DocumentSource.Source, ApiError> => {
  const { contentBase64, url } = payload
  if (contentBase64 !== undefined && url === undefined) return Effect.succeed({ type: "file", file })
  if (url !== undefined && contentBase64 === undefined) return Effect.succeed({ type: "url", url })
  return Effect.fail(
    ApiError.of("invalid_request", "the body needs content_base64 or url, one of both", "content_base64")
  )
}

export const layer = HttpApiBuilder.group(
  Api,
  "porting",
  Effect.fnUntraced(function* (handlers) {
    const porting = yield* Porting
    return handlers.handleAll({
      check: ({ payload }) =>
        Effect.map(porting.check(payload.phoneNumbers), (results) =>
          Pagination.whole(results.map((each) => portability(each)))
        ),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(porting.create(yield* CurrentKey, payload, slot))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/porting/orders", query, (window, filters) =>
          porting.list(tenantId, filters, window)
        )
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* porting.find(tenantId, params.id))
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(porting.update(yield* CurrentKey, params.id, payload, slot))
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(porting.remove(yield* CurrentKey, params.id, slot))
      }),
      submit: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(porting.submit(yield* CurrentKey, params.id, slot))
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(porting.cancel(yield* CurrentKey, params.id, slot))
      }),
      add_document: Effect.fnUntraced(function* ({ params, payload }) {
        const { slot } = yield* CurrentSlot
        const source = yield* sourceOf(payload, yield* CurrentFile)
        const { documentType, filename } = payload
        return yield* JsonResponse.rendered(
          porting.addDocument(yield* CurrentKey, params.id, { documentType, filename, source }, slot)
        )
      }),
      documents: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return Pagination.whole(yield* porting.documents(tenantId, params.id))
      }),
      download: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        const { body, document } = yield* porting.file(tenantId, params.id)
        return HttpServerResponse.stream(body, {
          contentType: document.contentType,
          contentLength: document.sizeBytes,
          headers: {
            // The tenant chose the name, so it appears only in its extended encoding (RFC 6266 section 4.3).
            "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(document.filename)}`,
            "cache-control": "private, no-store",
            "content-security-policy": "default-src 'none'; sandbox",
            "x-content-type-options": "nosniff"
          }
        })
      })
    })
  })
)
