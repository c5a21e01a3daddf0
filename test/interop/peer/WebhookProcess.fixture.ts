/**
 * A webhook receiver in a separate process: takes webhooks over HTTPS, serves a sound, and answers inbound calls by API
 * on request. It talks to its parent over IPC.
 */
import { readFileSync } from "node:fs"
import { Agent, request as httpRequest } from "node:http"
import { createServer } from "node:https"
import { randomUUID } from "node:crypto"
import * as SeenEvent from "../../support/SeenEvent.ts"

export type Order =
  | { readonly kind: "relay"; readonly relay: boolean }
  | { readonly kind: "answer"; readonly baseUrl: string; readonly key: string; readonly numbers: ReadonlyArray<string> }

export type Report =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "webhook"; readonly envelope: unknown }
  | { readonly kind: "failed"; readonly what: string }

const [certificateFile = "", keyFile = "", soundFile = ""] = process.argv.slice(2)
const sound = readFileSync(soundFile)
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
let relaying = true
let answering: Extract<Order, { readonly kind: "answer" }> | undefined

const report = (message: Report): void => void process.send?.(message)

const answer = (callId: string, { baseUrl, key }: Extract<Order, { readonly kind: "answer" }>): void => {
  const request = httpRequest(
    `${baseUrl}/v1/calls/${callId}/actions/answer`,
    { method: "POST", agent, headers: { authorization: `Bearer ${key}`, "idempotency-key": randomUUID() } },
    (response) => {
      response.resume()
      if ((response.statusCode ?? 500) >= 300) report({ kind: "failed", what: `answer: ${response.statusCode}` })
    }
  )
  request.on("error", (error) => report({ kind: "failed", what: `answer: ${error.message}` }))
  request.end()
}

interface Envelope {
  readonly event_type: string
  readonly data: { readonly call_id: string; readonly direction?: string; readonly to?: string }
}

const server = createServer(
  { cert: readFileSync(certificateFile), key: readFileSync(keyFile) },
  (request, response) => {
    if (request.method === "GET") return void response.writeHead(200, { "content-type": "audio/wav" }).end(sound)
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      response.writeHead(204).end()
      const body = Buffer.concat(chunks).toString("utf8")
      const malformed = SeenEvent.faultOfBody(body)
      if (malformed !== null) return report({ kind: "failed", what: malformed })
      const envelope = JSON.parse(body) as Envelope
      if (relaying) report({ kind: "webhook", envelope })
      const { data } = envelope
      if (answering === undefined || envelope.event_type !== "call.started" || data.direction !== "inbound") return
      if (answering.numbers.includes(data.to ?? "")) answer(data.call_id, answering)
    })
  }
)
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  report({ kind: "listening", port: typeof address === "object" && address !== null ? address.port : 0 })
})
process.on("message", (order: Order) => {
  if (order.kind === "relay") relaying = order.relay
  else answering = order
})
process.on("disconnect", () => process.exit(0))
