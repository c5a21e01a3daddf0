import { Effect } from "effect"
import type { TenantId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { Egress } from "../../ports/egress/Egress.ts"
import * as DocumentBytes from "./DocumentBytes.ts"

/** A file, and its SHA-256 in hex. */
export interface Sourced {
  readonly bytes: Uint8Array
  readonly sha256: string
}

export type Source =
  /** The file came with the request; null when it is not base64. */
  | { readonly type: "file"; readonly file: Sourced | null }
  /** An HTTPS URL that is fetched once, by the same rules as prompts. */
  | { readonly type: "url"; readonly url: string }

const timeoutMs = 30_000
const redirects = 3

/** Reads the bytes of a document, 10 MiB at most. */
export const make = Effect.map(Egress, (egress) => {
  const tooLarge = (param: string) => ApiError.of("invalid_request", `${param}: the file is longer than 10 MiB`, param)

  const fetched = Effect.fnUntraced(function* (tenantId: TenantId, url: string) {
    const fault = egress.refuse(url)
    if (fault !== null) return yield* ApiError.of("invalid_target_url", `url: the URL ${fault}`, "url")
    const answer = yield* Effect.catch(
      egress.request({
        method: "GET",
        url,
        headers: {},
        timeoutMs,
        maxResponseBytes: DocumentBytes.maxBytes,
        maxRedirects: redirects,
        pacedFor: tenantId
      }),
      (error) =>
        Effect.fail(
          error.reason === "too_large"
            ? tooLarge("url")
            : ApiError.of("unprocessable", `url: the file could not be fetched (${error.reason})`, "url")
        )
    )
    if (answer.status !== 200)
      return yield* ApiError.of("unprocessable", `url: the server answered ${answer.status}`, "url")
    return { bytes: answer.body, sha256: yield* DocumentBytes.sha256(answer.body) }
  })

  return {
    read: (tenantId: TenantId, source: Source): Effect.Effect<Sourced, ApiError> => {
      if (source.type === "url") return fetched(tenantId, source.url)
      const { file } = source
      if (file === null)
        return Effect.fail(ApiError.of("invalid_request", "content_base64: is not base64 (RFC 4648)", "content_base64"))
      return file.bytes.length > DocumentBytes.maxBytes ? Effect.fail(tooLarge("content_base64")) : Effect.succeed(file)
    }
  }
})
