import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import { Drawing, type InvoiceRow, NotDrawn } from "../Invoice.ts"

/** Requests for one invoice at the same time share a drawing. Only the status of an issued invoice changes. */
const nameOf = ({ id, status }: InvoiceRow): string => `${id} ${status}`

/** The most invoices that wait or are drawn; one more is refused. An ordinary one takes a tenth of a second. */
const capacity = 64

/** A drawing that takes this long is hopeless: its thread is replaced, and all that wait for it are refused. */
const withinMs = 20_000

/** Runs another program in the thread. */
export const layerOf = (program: URL) =>
  Layer.effect(
    Drawing,
    Effect.gen(function* () {
      type Outcome = Effect.Effect<Uint8Array, NotDrawn>
      /** The requests that wait for each drawing; empty when they are gone before it is done. */
      const waiting = new Map<string, Set<(outcome: Outcome) => void>>()
      const thread = AskedThread.make<InvoiceRow, Uint8Array>(() => new Worker(program))
      yield* Effect.addFinalizer(() => thread.end)

      const settle = (name: string, outcome: Outcome) => {
        const resumes = waiting.get(name) ?? []
        waiting.delete(name)
        for (const resume of resumes) resume(outcome)
      }
      const start = (name: string, invoice: InvoiceRow) =>
        thread.post(invoice, (outcome) => settle(name, Effect.catchTag(outcome, "ThreadDied", refused)))

      return Drawing.of({
        draw: (invoice) =>
          Effect.callback<Uint8Array, NotDrawn>((resume) => {
            const name = nameOf(invoice)
            const others = waiting.get(name)
            if (others === undefined && waiting.size >= capacity)
              return resume(Effect.fail(new NotDrawn({ detail: "too many invoices wait" })))
            const resumes = others ?? new Set()
            waiting.set(name, resumes.add(resume))
            if (others === undefined) start(name, invoice)
            return Effect.sync(() => void resumes.delete(resume))
          }).pipe(
            Effect.timeoutOrElse({
              duration: withinMs,
              orElse: () => Effect.andThen(thread.end, Effect.fail(new NotDrawn({ detail: "it took too long" })))
            })
          )
      })
    })
  )

const refused = ({ message }: AskedThread.ThreadDied) => Effect.fail(new NotDrawn({ detail: message }))

/**
 * Draws invoices in a separate thread, one after the other, each once for all requests that wait for it. When the
 * thread dies, waiting requests are refused.
 */
export const layer = layerOf(new URL("./PdfWorker.ts", import.meta.url))
