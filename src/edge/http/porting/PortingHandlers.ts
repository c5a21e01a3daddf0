import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ApiError } from "../../../domain/ApiError.ts"
import { type DocumentSource, Porting, portability } from "../../../numbers/porting/Porting.ts"
import { Api } from "../Api.ts"
import { answer, list, pageOf, read, whole, write } from "../Handler.ts"
import { CurrentFile, type File } from "../request/CurrentFile.ts"

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

export const layer = HttpApiBuilder.group(Api, "porting", (handlers) =>
  Effect.map(Porting, (porting) =>
    handlers.handleAll({
      check: whole((_, { payload }) =>
        Effect.map(porting.check(payload.phoneNumbers), (results) => results.map((each) => portability(each)))
      ),
      create: write((caller, { payload }, slot) => porting.create(caller, payload, slot)),
      list: list((tenantId, window, filters) => porting.list(tenantId, filters, window)),
      retrieve: read((tenantId, { params }) => porting.find(tenantId, params.id)),
      update: write((caller, { params, payload }, slot) => porting.update(caller, params.id, payload, slot)),
      remove: write((caller, { params }, slot) => porting.remove(caller, params.id, slot)),
      submit: write((caller, { params }, slot) => porting.submit(caller, params.id, slot)),
      cancel: write((caller, { params }, slot) => porting.cancel(caller, params.id, slot)),
      add_document: write(
        Effect.fnUntraced(function* (caller, { params, payload }, slot) {
          const source = yield* sourceOf(payload, yield* CurrentFile)
          const { documentType, filename } = payload
          return yield* porting.addDocument(caller, params.id, { documentType, filename, source }, slot)
        })
      ),
      documents: pageOf((tenantId, { params }) => porting.documents(tenantId, params.id)),
      download: answer((tenantId, { params }) =>
        Effect.map(porting.file(tenantId, params.id), ({ body, document }) =>
          HttpServerResponse.stream(body, {
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
        )
      )
    })
  )
)
