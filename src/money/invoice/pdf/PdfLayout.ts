import { createRequire } from "node:module"
import Pdf from "pdfkit"
import type { InvoiceRow, Line, Party } from "../Invoice.ts"

/** The font is embedded, so that a name in any European script reads the same everywhere. */
const fontOf = (name: string) => createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)
const regular = fontOf("DejaVuSans")
const bold = fontOf("DejaVuSans-Bold")

/** A4 in points. */
const [width, height, margin] = [595.28, 841.89, 50]
const bottom = height - margin - 30
/** The beginning and the width of each column. Amounts of twelve digits fit in one line. */
const columns = {
  description: { x: margin, wide: 225 },
  quantity: { x: 280, wide: 50 },
  unit: { x: 340, wide: 95 },
  amount: { x: 440, wide: width - margin - 440 }
}

const money = (cents: number): string => {
  const [whole = "", part] = (Math.abs(cents) / 100).toFixed(2).split(".")
  return `${cents < 0 ? "-" : ""}${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}.${part}`
}
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/**
 * Draws the PDF of an invoice. The same invoice gives the same bytes, because the PDF contains nothing but the invoice
 * and its dates. A long list continues over as many pages as it takes.
 */
export const draw = (invoice: InvoiceRow): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const document = new Pdf({
      size: "A4",
      margin,
      bufferPages: true,
      font: regular,
      info: {
        Title: `Invoice ${invoice.number}`,
        Author: invoice.seller.name,
        Producer: "trunkline",
        Creator: "trunkline",
        CreationDate: new Date(invoice.issuedAt),
        ModDate: new Date(invoice.issuedAt)
      }
    })
    const chunks: Array<Buffer> = []
    document.on("data", (chunk: Buffer) => chunks.push(chunk))
    document.on("error", reject)
    document.on("end", () => resolve(Buffer.concat(chunks)))
    compose(document, invoice)
    document.end()
  })

const compose = (document: PDFKit.PDFDocument, invoice: InvoiceRow): void => {
  let y = margin
  const write = (
    text: string,
    x: number,
    options: { readonly bold?: boolean; readonly size?: number; readonly wide?: number; readonly right?: boolean } = {}
  ) => {
    const { bold: isBold = false, right = false, size = 9, wide = width - margin - x } = options
    document.font(isBold ? bold : regular).fontSize(size)
    const height = document.heightOfString(text, { width: wide })
    document.text(text, x, y, { width: wide, align: right ? "right" : "left" })
    return height
  }
  const ensureHeight = (needed: number): void => {
    if (y + needed <= bottom) return
    document.addPage()
    y = margin
  }
  const party = (title: string, of: Party, x: number): number => {
    const lines = [
      of.name,
      ...of.address,
      ...(of.taxId === null ? [] : [`Tax ID ${of.taxId}`]),
      ...(of.email === null ? [] : [of.email])
    ]
    const before = y
    y += write(title, x, { bold: true, wide: 235 }) + 2
    for (const line of lines) y += write(line, x, { wide: 235 }) + 1
    const used = y - before
    y = before
    return used
  }
  const cell = (column: keyof typeof columns, text: string, isBold = false): void => {
    const { wide, x } = columns[column]
    write(text, x, { bold: isBold, wide, right: column !== "description" })
  }
  const sum = (label: string, cents: number, isBold = false): void => {
    ensureHeight(16)
    write(label, 235, { bold: isBold, wide: 200, right: true })
    cell("amount", money(cents), isBold)
    y += 15
  }
  const header = (title: string): void => {
    ensureHeight(50)
    cell("description", title, true)
    cell("quantity", "Quantity", true)
    cell("unit", "Each", true)
    cell("amount", "USD", true)
    y += 14
    document
      .moveTo(margin, y)
      .lineTo(width - margin, y)
      .lineWidth(0.5)
      .stroke()
    y += 4
  }
  const list = (title: string, lines: ReadonlyArray<Line>): void => {
    if (lines.length === 0) return
    header(title)
    for (const line of lines) {
      document.font(regular).fontSize(9)
      const tall = document.heightOfString(line.description, { width: columns.description.wide })
      if (y + tall > bottom) {
        document.addPage()
        y = margin
        header(`${title} (continued)`)
      }
      cell("description", line.description)
      cell("quantity", String(line.quantity))
      if (line.unitCostCents !== null) cell("unit", money(line.unitCostCents))
      cell("amount", money(line.amountCents))
      y += tall + 4
    }
    y += 8
  }

  y += write(`Invoice ${invoice.number}`, margin, { bold: true, size: 18 }) + 8
  y +=
    write(
      `Issued ${day(invoice.issuedAt)} · period ${day(invoice.periodStart)} to ${day(invoice.periodEnd - 1)} (UTC) · ${invoice.status}`,
      margin
    ) + 16
  y += Math.max(party("From", invoice.seller, margin), party("To", invoice.buyer, 310)) + 20
  list("Services", invoice.lines)
  sum("Subtotal", invoice.subtotalCents)
  sum("Tax", invoice.taxCents)
  sum("Total", invoice.totalCents, true)
  sum("Paid", invoice.amountPaidCents)
  sum("Amount due", invoice.amountDueCents, true)
  y += 14
  list("Payments and credits", invoice.credits)
  sum("Opening balance", invoice.openingBalanceCents)
  sum("Closing balance", invoice.closingBalanceCents)

  const { count, start } = document.bufferedPageRange()
  for (let page = start; page < start + count; page++) {
    document.switchToPage(page)
    // Without this, text below the margin would begin a new page.
    document.page.margins.bottom = 0
    document.font(regular).fontSize(8)
    document.text(`${invoice.number} · page ${page + 1} of ${count}`, margin, height - margin, {
      width: width - 2 * margin,
      align: "center",
      lineBreak: false
    })
  }
}
