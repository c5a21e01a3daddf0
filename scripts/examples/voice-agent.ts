/**
 * A voice agent in a page: it answers calls, listens, talks back, and stops when it is interrupted.
 *
 * It is the HTTPS server of a webhook and the WSS server of the media stream (guide/streams.md), and needs only `ws`.
 * It understands nothing: it only measures the caller's sound, and its speech is a tone. Put your recognizer where
 * `heard` is called, and your synthesizer where `speech` is.
 */
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { type WebSocket, WebSocketServer } from "ws"

interface Options {
  readonly api: string
  readonly key: string
  /** The URL at which the service reaches this server. */
  readonly streamUrl: () => string
  readonly tls: { readonly key: string; readonly cert: string }
  readonly log: (line: string) => void
}

/** mu-law to linear, ITU-T G.711. */
const linear = (octet: number): number => {
  const bits = ~octet & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84
  return bits & 0x80 ? -magnitude : magnitude
}
const loudness = (payload: Buffer): number =>
  payload.reduce((sum, octet) => sum + Math.abs(linear(octet)), 0) / payload.length

/** Two seconds of a square wave of 500 Hz: mu-law has an octet for each of its two levels. */
const speech = Buffer.from(Array.from({ length: 16_000 }, (_, i) => (i % 16 < 8 ? 0x9f : 0x1f)))
const loud = 400
const send = (socket: WebSocket, message: object): void => socket.send(JSON.stringify(message))

/** Greets, answers each phrase (speech of 200 ms, then 600 ms of silence), and is silent while the caller speaks. */
const converse = (socket: WebSocket, log: (line: string) => void): void => {
  let [spokenMs, silentMs, isTalking] = [0, 0, false]
  const say = (what: string): void => {
    isTalking = true
    log(`says ${what}`)
    send(socket, { event: "media", media: { payload: speech.toString("base64") } })
    send(socket, { event: "mark", mark: { name: what } })
  }
  const heard = (payload: Buffer): void => {
    const isSpeech = loudness(payload) > loud
    spokenMs += isSpeech ? 20 : 0
    silentMs = isSpeech ? 0 : silentMs + 20
    if (isTalking && isSpeech && spokenMs >= 200) {
      isTalking = false
      log("is interrupted")
      send(socket, { event: "clear" })
    }
    if (silentMs < 600) return
    if (spokenMs >= 200) say("an answer")
    spokenMs = 0
  }
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString())
    if (message.event === "start") say("hello")
    if (message.event === "media") heard(Buffer.from(message.media.payload, "base64"))
    if (message.event === "mark") isTalking = false
    if (message.event === "mark")
      log(`${message.mark.cleared === true ? "did not finish" : "has said"} ${message.mark.name}`)
  })
}

/** Listens at `port`; connects each call, in either direction, with a stream to itself. */
export const listen = (port: number, { api, key, log, streamUrl, tls }: Options) => {
  const act = async (callId: string, verb: string): Promise<void> => {
    const { status } = await fetch(`${api}/v1/calls/${callId}/actions/${verb}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ stream_url: streamUrl(), stream_bidirectional_mode: "rtp" })
    })
    log(`${verb} ${status}`)
  }
  const inbound = new Set<string>()
  const server = createServer(tls, (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      response.end()
      // Check X-Webhook-Signature here: guide/webhooks.md.
      const { data, event_type: type } = JSON.parse(Buffer.concat(chunks).toString())
      if (type === "call.started" && data.direction === "inbound") {
        inbound.add(data.call_id)
        void act(data.call_id, "answer")
      }
      if (type === "call.answered" && !inbound.has(data.call_id)) void act(data.call_id, "streaming_start")
    })
  })
  new WebSocketServer({ server }).on("connection", (socket) => converse(socket, log))
  return server.listen(port, "127.0.0.1")
}

// As a program, it subscribes to its webhooks and logs its actions. guide/streams.md shows how it is started.
if (import.meta.main) {
  const { API: api = "http://127.0.0.1:8080", KEY: key = "" } = process.env
  const tls = { key: readFileSync("key.pem", "utf8"), cert: readFileSync("cert.pem", "utf8") }
  const log = (line: string): void => void process.stdout.write(`${line}\n`)
  listen(9443, { api, key, tls, log, streamUrl: () => "wss://localhost:9443/" })
  const { status } = await fetch(`${api}/v1/webhook-subscriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ target_url: "https://localhost:9443/", event_types: ["call.started", "call.answered"] })
  })
  log(`subscribes ${status}`)
}
