import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { Drawing, type InvoiceRow, NotDrawn } from "../Invoice.ts"

/** To the thread. */
export interface ToDrawer {
  readonly id: number
  readonly invoice: InvoiceRow
}

/** From the thread. */
export interface FromDrawer {
  readonly id: number
  readonly bytes: Uint8Array
}

/** Invoices that wait or are drawn; one more is refused. An ordinary one takes a tenth of a second. */
const room = 64

/** One that takes so long is hopeless: its thread is replaced, and with it all that wait are refused. */
const withinMs = 20_000

const program = new URL("./PdfWorker.ts", import.meta.url)

/**
 * Draws invoices in a thread of its own, one after the other. It is started for the first one and does not keep the
 * process alive. What waits when it dies is refused, and the next invoice gets a new thread.
 */
export const layer = Layer.effect(
  Drawing,
  Effect.gen(function* () {
    const waiting = new Map<number, (outcome: Effect.Effect<Uint8Array, NotDrawn>) => void>()
    let worker: Worker | null = null
    let lastId = 0

    const start = (): Worker => {
      const thread = new Worker(program)
      thread.unref()
      let why = "the thread that draws ended"
      thread.on("message", ({ bytes, id }: FromDrawer) => {
        waiting.get(id)?.(Effect.succeed(bytes))
        waiting.delete(id)
      })
      thread.on("error", (error) => (why = String(error)))
      thread.on("exit", () => {
        worker = null
        const lost = [...waiting.values()]
        waiting.clear()
        for (const settle of lost) settle(Effect.fail(new NotDrawn({ detail: why })))
      })
      return thread
    }
    yield* Effect.addFinalizer(() => Effect.promise(async () => void (await worker?.terminate())))

    return Drawing.of({
      draw: (invoice) =>
        Effect.callback<Uint8Array, NotDrawn>((resume) => {
          if (waiting.size >= room) return resume(Effect.fail(new NotDrawn({ detail: "too many invoices wait" })))
          const id = ++lastId
          waiting.set(id, resume)
          worker ??= start()
          worker.postMessage({ id, invoice } satisfies ToDrawer, [])
          return Effect.sync(() => void waiting.delete(id))
        }).pipe(
          Effect.timeoutOrElse({
            duration: withinMs,
            orElse: () =>
              Effect.andThen(
                Effect.promise(async () => void (await worker?.terminate())),
                Effect.fail(new NotDrawn({ detail: "it took too long" }))
              )
          })
        )
    })
  })
)
