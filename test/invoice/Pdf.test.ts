import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Id from "../../src/domain/Id.ts"
import { Drawing, type InvoiceRow } from "../../src/invoice/Invoice.ts"
import * as PdfLayout from "../../src/invoice/pdf/PdfLayout.ts"
import * as PdfThread from "../../src/invoice/pdf/PdfThread.ts"

const invoice = (lines: number): InvoiceRow => ({
  id: Id.derive("pdf", "inv"),
  number: "INV-00000042",
  status: "paid",
  periodStart: Date.UTC(2026, 0, 1),
  periodEnd: Date.UTC(2026, 1, 1),
  openingBalanceCents: 500,
  credits: [],
  lines: Array.from({ length: lines }, (_, index) => ({
    description: `Line ${index}`,
    type: "call_charge",
    quantity: 1,
    unitCostCents: 2,
    amountCents: 2
  })),
  subtotalCents: 2 * lines,
  taxCents: 0,
  totalCents: 2 * lines,
  amountPaidCents: 2 * lines,
  amountDueCents: 0,
  closingBalanceCents: 500 - 2 * lines,
  seller: { name: "Łódź Telekom Sp. z o.o.", address: ["ul. Piotrkowska 1"], taxId: "PL123", email: null },
  buyer: { name: "Ωmega Ğ", address: [], taxId: null, email: null },
  issuedAt: Date.UTC(2026, 1, 1, 1),
  paidAt: Date.UTC(2026, 1, 1, 1)
})

/** Dies of an invoice that has many lines. */
const dies = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", ({ id, question }) => {
    if (question.lines.length === 666) throw new Error("poisoned")
    parentPort.postMessage({ id, type: "answer", answer: new Uint8Array([1]) })
  })`)}`
)

const pages = (pdf: Uint8Array) =>
  Buffer.from(pdf)
    .toString("latin1")
    .match(/\/Type \/Page\b/g)?.length ?? 0

describe("the PDF of an invoice", () => {
  it.effect("has the same bytes for the same invoice, from the thread as from here", () =>
    Effect.gen(function* () {
      const { draw } = yield* Drawing
      const [one, other] = yield* Effect.all([draw(invoice(3)), draw(invoice(3))], { concurrency: "unbounded" })
      const here = yield* Effect.promise(() => PdfLayout.draw(invoice(3)))
      expect(Buffer.compare(one, other)).toBe(0)
      expect(Buffer.compare(one, here)).toBe(0)
      expect(Buffer.compare(one, yield* draw(invoice(4)))).not.toBe(0)
      expect(pages(one)).toBe(1)
    }).pipe(Effect.provide(PdfThread.layer))
  )

  it.effect("is drawn once for all who ask for it at once, and refused to nobody for that", () =>
    Effect.gen(function* () {
      const { draw } = yield* Drawing
      const all = Array.from({ length: 200 }, () => draw(invoice(40)))
      const [impatient] = all
      const drawn = yield* Effect.all([Effect.timeoutOption(impatient ?? Effect.never, "1 millis"), ...all], {
        concurrency: "unbounded"
      })
      expect(new Set(drawn.slice(1)).size).toBe(1)
    }).pipe(Effect.provide(PdfThread.layer))
  )

  it.effect("whose thread dies is refused, and the next is drawn by a new one", () =>
    Effect.gen(function* () {
      const { draw } = yield* Drawing
      const lost = yield* Effect.forEach(
        [invoice(666), invoice(666), { ...invoice(1), status: "open" } as const],
        (each) => Effect.flip(draw(each)),
        {
          concurrency: "unbounded"
        }
      )
      expect(lost.map(({ _tag }) => _tag)).toEqual(["NotDrawn", "NotDrawn", "NotDrawn"])
      expect(yield* draw(invoice(1))).toEqual(new Uint8Array([1]))
    }).pipe(Effect.provide(PdfThread.layerOf(dies)))
  )

  it.effect("goes on over as many pages as its lines take", () =>
    Effect.gen(function* () {
      const { draw } = yield* Drawing
      expect(pages(yield* draw(invoice(560)))).toBeGreaterThan(8)
    }).pipe(Effect.provide(PdfThread.layer))
  )
})
