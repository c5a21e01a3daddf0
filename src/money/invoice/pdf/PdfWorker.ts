import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import * as ThreadPriority from "../../../runtime/process/ThreadPriority.ts"
import * as PdfLayout from "./PdfLayout.ts"

/** A thread that draws invoices, at a lower priority than the other threads. */
AskedThread.serve(parentPort, PdfLayout.draw)
ThreadPriority.lower({ platform: process.platform, setPriority })
