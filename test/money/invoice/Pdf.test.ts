import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { inflateSync } from "node:zlib"
import * as Id from "../../../src/domain/Id.ts"
import { Drawing, type InvoiceRow } from "../../../src/money/invoice/Invoice.ts"
import * as PdfLayout from "../../../src/money/invoice/pdf/PdfLayout.ts"
import * as PdfThread from "../../../src/money/invoice/pdf/PdfThread.ts"

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

/** Dies of an invoice with many lines. */
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

interface Text {
  readonly x: number
  /** The distance from the lower edge of the page, in points. */
  readonly y: number
  readonly font: string
  /** Glyphs of a font of the document. The same text in the same font has the same glyphs. */
  readonly glyphs: string
}

/** The texts on each page. */
const textsOf = (pdf: Uint8Array): ReadonlyArray<ReadonlyArray<Text>> => {
  const bytes = Buffer.from(pdf)
  const text = bytes.toString("latin1")
  return [...text.matchAll(/\/FlateDecode\n>>\nstream\n/g)].flatMap(({ 0: start, index }) => {
    const from = index + start.length
    const content = inflateSync(bytes.subarray(from, text.indexOf("endstream", from))).toString("latin1")
    const found = [
      ...content.matchAll(/1 0 0 1 (?<x>[\d.]+) (?<y>[\d.]+) Tm\n\/(?<font>F\d+ \d+) Tf\n(?<glyphs>.*) TJ/g)
    ].map(({ groups = {} }) => ({
      x: Number(groups["x"]),
      y: Number(groups["y"]),
      font: groups["font"] ?? "",
      glyphs: groups["glyphs"] ?? ""
    }))
    return found.length === 0 ? [] : [found]
  })
}

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
      const pdf = yield* draw(invoice(560))
      const texts = textsOf(pdf)
      expect(texts.length).toBeGreaterThan(8)
      expect(pages(pdf)).toBe(texts.length)
      // Each line occurs once, because they differ in their number. Four texts at the same edge are above them.
      const left = texts.flat().filter(({ font, x }) => x === 50 && font === "F1 9")
      expect(new Set(left.map(({ glyphs }) => glyphs)).size).toBe(560 + 4)
      expect(left.length).toBe(560 + 4)
      const [first = [], ...others] = texts
      // The list's head is at the top of each further page, and the page number below everything.
      const quantity = first.find(({ font, x }) => font === "F2 9" && Math.abs(x - 286) < 1)?.glyphs
      for (const page of others.filter((texts) => texts.some(({ font, x }) => x === 50 && font === "F1 9"))) {
        const top = Math.max(...page.map(({ y }) => y))
        const heads = page.filter(({ glyphs }) => glyphs === quantity)
        expect(heads.map(({ y }) => y)).toEqual([top])
        expect(top).toBeGreaterThan(775)
      }
      const feet = texts.map((page) => page.filter(({ font }) => font === "F1 8"))
      expect(feet.map(({ length }) => length)).toEqual(texts.map(() => 1))
      expect(new Set(feet.flat().map(({ glyphs }) => glyphs)).size).toBe(texts.length)
      for (const page of texts)
        expect(Math.min(...page.flatMap(({ font, y }) => (font === "F1 8" ? [] : [y])))).toBeGreaterThan(75)
    }).pipe(Effect.provide(PdfThread.layer))
  )
})
