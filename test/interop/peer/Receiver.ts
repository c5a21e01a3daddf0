import { fork } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { TestAuthority } from "../../support/network/TestCertificate.ts"
import { end, eventually, type Json, type Tenant } from "./Service.ts"
import type { Order, Report } from "./WebhookProcess.fixture.ts"

export interface Webhook {
  readonly event_type: string
  readonly data: Json
}

export interface Receiver {
  readonly url: string
  readonly soundUrl: string
  readonly tell: (order: Order) => void
  readonly received: ReadonlyArray<Webhook>
  /** Waits for a webhook of this type about this call. */
  readonly next: (type: string, callId: string, withinMs?: number) => Promise<Webhook>
  readonly failures: ReadonlyArray<string>
  /** Sends every event of this tenant here. */
  readonly subscribe: (tenant: Tenant) => Promise<void>
  readonly stop: () => Promise<void>
}

/** A webhook receiver in a separate process; `sound` is served at `soundUrl`. */
export const start = async (folder: string, authority: TestAuthority, sound: Uint8Array): Promise<Receiver> => {
  const { cert, key } = authority.issue(["127.0.0.1"])
  const files = ["receiver.pem", "receiver.key", "sound.wav"].map((name) => join(folder, name))
  for (const [at, content] of [cert, key, sound].entries()) await writeFile(files[at] ?? "", content)
  const child = fork(new URL("./WebhookProcess.fixture.ts", import.meta.url).pathname, files, { execArgv: [] })
  const received: Array<Webhook> = []
  const failures: Array<string> = []
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", () => reject(new Error("the receiver did not start")))
    child.on("message", (report: Report) => {
      if (report.kind === "listening") resolve(report.port)
      else if (report.kind === "webhook") received.push(report.envelope as Webhook)
      else failures.push(report.what)
    })
  })
  const url = `https://127.0.0.1:${port}`
  return {
    url: `${url}/hook`,
    soundUrl: `${url}/sound.wav`,
    received,
    failures,
    tell: (order) => void child.send(order),
    next: (type, callId, withinMs) =>
      eventually(
        `${type} of ${callId}`,
        () => received.find((each) => each.event_type === type && each.data["call_id"] === callId),
        withinMs
      ),
    subscribe: async (tenant) => {
      await tenant.request("POST", "/v1/webhook-subscriptions", { target_url: `${url}/hook`, event_types: ["*"] })
    },
    stop: () => end(child)
  }
}
