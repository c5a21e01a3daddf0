import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import { Drawing, filePath, Invoices } from "../../../money/invoice/Invoice.ts"
import * as LinkedFile from "../answer/LinkedFile.ts"

export const route = LinkedFile.route(filePath)

const busy = ApiError.of("service_unavailable", "the invoice cannot be drawn right now; try again")

/** Serves the PDFs of invoices to every holder of a link (guide/money.md#invoices), and draws them on request. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const invoices = yield* Invoices
    const drawing = yield* Drawing
    const serve = Effect.gen(function* () {
      const invoice = yield* invoices.linked(yield* LinkedFile.link)
      if (invoice === null) return yield* LinkedFile.nothing
      const bytes = yield* drawing.draw(invoice).pipe(
        Effect.tapError(({ detail }) => Effect.logWarning("an invoice was not drawn", { id: invoice.id, detail })),
        Effect.mapError(() => busy)
      )
      const headers = LinkedFile.headers(`${invoice.number}.pdf`)
      return HttpServerResponse.uint8Array(bytes, { contentType: "application/pdf", headers })
    })
    yield* router.add("GET", route.path as `/${string}`, serve)
  })
).pipe(Layer.orDie)
