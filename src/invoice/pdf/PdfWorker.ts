import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as ThreadPriority from "../../domain/ThreadPriority.ts"
import type { FromDrawer, ToDrawer } from "./PdfThread.ts"
import * as PdfLayout from "./PdfLayout.ts"

/** A thread that draws invoices, and takes what the others leave of the processor. */
const port = parentPort
if (port === null) throw new Error("PdfWorker is a worker thread")

port.on("message", ({ invoice, name }: ToDrawer) => {
  void PdfLayout.draw(invoice).then((bytes) => port.postMessage({ name, bytes } satisfies FromDrawer))
})
ThreadPriority.lower({ platform: process.platform, setPriority })
