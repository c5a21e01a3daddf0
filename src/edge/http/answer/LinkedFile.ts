import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import type { Route } from "../RouteTable.ts"

/** A file that every holder of a signed link may download. */

interface Link {
  readonly file: string
  readonly expires: string
  readonly signature: string
}

/** A link that is wrong, expired, or of something that cannot be downloaded gets the same answer. */
export const nothing = ApiError.of("not_found", "there is no such file, or the link has expired")

/** A browser neither keeps the file nor runs anything in it. */
export const headers = (fileName: string) => ({
  "cache-control": "private, no-store",
  "content-disposition": `attachment; filename="${fileName}"`,
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
})

export const route = (path: string): Route => ({ method: "GET", path: `${path}:file` })

const one = (value: string | ReadonlyArray<string> | undefined): string => (typeof value === "string" ? value : "")

/** The link of this request. */
export const link: Effect.Effect<Link, never, HttpRouter.RouteContext | HttpServerRequest.ParsedSearchParams> =
  Effect.gen(function* () {
    const { file = "" } = yield* HttpRouter.params
    const { expires, signature } = yield* HttpServerRequest.ParsedSearchParams
    return { file, expires: one(expires), signature: one(signature) }
  })
