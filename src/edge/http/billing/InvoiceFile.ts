import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import { Drawing, filePath, Invoices } from "../../../money/invoice/Invoice.ts"
import type { Route } from "../RouteTable.ts"

export const route: Route = { method: "GET", path: `${filePath}:file` }

/** A wrong link and an expired one get the same answer. */
const nothing = ApiError.of("not_found", "there is no such file, or the link has expired")
const busy = ApiError.of("service_unavailable", "the invoice cannot be drawn right now; try again")

const one = (value: string | ReadonlyArray<string> | undefined): string => (typeof value === "string" ? value : "")

/** Serves the PDFs of invoices to every holder of a link (guide/money.md#invoices), and draws them on request. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const invoices = yield* Invoices
    const drawing = yield* Drawing
    const serve = Effect.gen(function* () {
      const { file = "" } = yield* HttpRouter.params
      const { expires, signature } = yield* HttpServerRequest.ParsedSearchParams
      const { method } = yield* HttpServerRequest.HttpServerRequest
      const invoice = yield* invoices.linked({ file, expires: one(expires), signature: one(signature) })
      if (invoice === null) return yield* nothing
      const headers = {
        "cache-control": "private, no-store",
        "content-disposition": `attachment; filename="${invoice.number}.pdf"`,
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer"
      }
      const bytes = yield* drawing.draw(invoice).pipe(
        Effect.tapError(({ detail }) => Effect.logWarning("an invoice was not drawn", { id: invoice.id, detail })),
        Effect.mapError(() => busy)
      )
      return method === "HEAD"
        ? HttpServerResponse.empty({
            status: 200,
            headers: { ...headers, "content-type": "application/pdf", "content-length": String(bytes.byteLength) }
          })
        : HttpServerResponse.uint8Array(bytes, { contentType: "application/pdf", headers })
    })
    yield* router.add("GET", route.path as `/${string}`, serve)
  })
).pipe(Layer.orDie)
