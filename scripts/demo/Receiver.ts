import { createHmac, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import type { Certificate } from "./Certificate.ts"
import { at, textAt } from "./Json.ts"
import type { Timeline } from "./Timeline.ts"

/** A webhook that did not come. */
export class Silence extends Error {}

interface Webhook {
  readonly type: string
  /** The whole envelope, guide/webhooks.md#the-request. */
  readonly envelope: unknown
}

export interface Receiver {
  readonly webhookUrl: string
  readonly soundUrl: string
  /** Checks signatures with this from now on; what comes before is refused, and will be sent again. */
  readonly expect: (signingSecret: string) => void
  /** The first webhook of this type that was not awaited yet. */
  readonly next: (type: string) => Promise<Webhook>
  /** Verified webhooks, each event once, in order of arrival. */
  readonly received: ReadonlyArray<Webhook>
  /** Requests whose signature was wrong or old. */
  readonly refused: () => number
  readonly stop: () => Promise<void>
}

const toleranceSecs = 300
const maxBodyBytes = 1024 * 1024
const patienceMs = 30_000

/** A second of two rising tones. */
const sound = (): Uint8Array => {
  const samples = Int16Array.from([660, 880].flatMap((frequency) => [...Tone.sine(frequency, -12, 500, 8000)]))
  return Wav.write({ sampleRate: 8000, samples })
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes) throw new Error("too large")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/**
 * guide/webhooks.md#signature, as any receiver would do it: over the raw body, in constant time, not older than five
 * minutes.
 */
const isGenuine = (secret: string, request: IncomingMessage, body: string): boolean => {
  const timestamp = String(request.headers["x-webhook-timestamp"])
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSecs)) return false
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`)
  const given = Buffer.from(String(request.headers["x-webhook-signature"]))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const detailOf = (data: unknown): string =>
  [
    "from",
    "to",
    "digit",
    "digits",
    "status",
    "reason",
    "duration_seconds",
    "end_reason",
    "end_initiator",
    "total_cents"
  ]
    .flatMap((field) => {
      const value = at(data, field)
      return typeof value === "string" || typeof value === "number" ? [`${field}=${value}`] : []
    })
    .join(" ")

/** The tenant's side: an HTTPS server that takes webhooks and serves a sound. */
export const start = async (certificate: Certificate, timeline: Timeline): Promise<Receiver> => {
  const received: Array<Webhook> = []
  const seen = new Set<string>()
  const awaited = new Map<string, number>()
  let wake: Array<() => void> = []
  let secret: string | null = null
  let refused = 0

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request)
    if (secret === null || !isGenuine(secret, request, body)) {
      if (secret !== null) refused++
      response.writeHead(503).end()
      return
    }
    response.writeHead(204).end()
    const envelope: unknown = JSON.parse(body)
    const eventId = textAt(envelope, "event_id")
    if (seen.has(eventId)) return
    seen.add(eventId)
    const type = textAt(envelope, "event_type")
    received.push({ type, envelope })
    timeline.webhook(type, detailOf(at(envelope, "data")))
    const waiting = wake
    wake = []
    for (const resume of waiting) resume()
  }

  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    if (request.method === "GET" && request.url === "/welcome.wav") {
      response.writeHead(200, { "content-type": "audio/wav" }).end(sound())
    } else if (request.method === "POST" && request.url === "/webhooks") {
      take(request, response).catch(() => response.destroy())
    } else response.writeHead(404).end()
  })
  server.on("tlsClientError", () => undefined)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const base = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`

  return {
    webhookUrl: `${base}/webhooks`,
    soundUrl: `${base}/welcome.wav`,
    expect: (signingSecret) => {
      secret = signingSecret
    },
    next: async (type) => {
      const nth = awaited.get(type) ?? 0
      awaited.set(type, nth + 1)
      const until = Date.now() + patienceMs
      for (;;) {
        const found = received.filter((webhook) => webhook.type === type)[nth]
        if (found !== undefined) return found
        const left = until - Date.now()
        if (left <= 0) throw new Silence(`no ${type} within ${patienceMs / 1000} s`)
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resume) => {
          wake.push(resume)
          timer = setTimeout(resume, left)
        })
        clearTimeout(timer)
      }
    },
    received,
    refused: () => refused,
    stop: async () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
