import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { Drawing, type InvoiceRow, NotDrawn } from "../Invoice.ts"

/** To the thread. */
export interface ToDrawer {
  readonly name: string
  readonly invoice: InvoiceRow
}

/** From the thread. */
export interface FromDrawer {
  readonly name: string
  readonly bytes: Uint8Array
}

/** What is drawn once for all who ask meanwhile: an issued invoice changes in its status only. */
const nameOf = ({ id, status }: InvoiceRow): string => `${id} ${status}`

/** Invoices that wait or are drawn; one more is refused. An ordinary one takes a tenth of a second. */
const room = 64

/** One that takes so long is hopeless: its thread is replaced, and with it all that wait are refused. */
const withinMs = 20_000

const program = new URL("./PdfWorker.ts", import.meta.url)

/**
 * Draws invoices in a thread of its own, one after the other, each once for all who ask for it meanwhile. It is started for the first one and does not keep the
 * process alive. What waits when it dies is refused, and the next invoice gets a new thread.
 */
export const layer = Layer.effect(
  Drawing,
  Effect.gen(function* () {
    type Outcome = Effect.Effect<Uint8Array, NotDrawn>
    /** Who waits for each; nobody, when they have gone while it is drawn. */
    const waiting = new Map<string, Set<(outcome: Outcome) => void>>()
    let worker: Worker | null = null

    const settle = (name: string, outcome: Outcome) => {
      const resumes = waiting.get(name) ?? []
      waiting.delete(name)
      for (const resume of resumes) resume(outcome)
    }

    const start = (): Worker => {
      const thread = new Worker(program)
      thread.unref()
      let why = "the thread that draws ended"
      thread.on("message", ({ bytes, name }: FromDrawer) => settle(name, Effect.succeed(bytes)))
      thread.on("error", (error) => (why = String(error)))
      thread.on("exit", () => {
        worker = null
        for (const name of waiting.keys()) settle(name, Effect.fail(new NotDrawn({ detail: why })))
      })
      return thread
    }
    yield* Effect.addFinalizer(() => Effect.promise(async () => void (await worker?.terminate())))

    return Drawing.of({
      draw: (invoice) =>
        Effect.callback<Uint8Array, NotDrawn>((resume) => {
          const name = nameOf(invoice)
          const others = waiting.get(name)
          if (others === undefined && waiting.size >= room)
            return resume(Effect.fail(new NotDrawn({ detail: "too many invoices wait" })))
          const resumes = others ?? new Set()
          waiting.set(name, resumes.add(resume))
          if (others === undefined) {
            worker ??= start()
            worker.postMessage({ name, invoice } satisfies ToDrawer, [])
          }
          return Effect.sync(() => void resumes.delete(resume))
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
