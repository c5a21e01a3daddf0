import { createHmac } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { text } from "node:stream/consumers"
import { isDeepStrictEqual } from "node:util"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import * as SeenEvent from "../../../support/SeenEvent.ts"
import type { TestCertificate } from "../../../support/network/TestCertificate.ts"
import * as StreamServer from "./StreamServer.ts"

/** A webhook as it arrived. */
export interface Event {
  readonly event_id: string
  readonly event_type: string
  readonly occurred_at: string
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}

/** One event at one subscription: the bytes of its first attempt, and how many attempts came. */
interface Delivered {
  readonly body: string
  readonly event: Event
  attempts: number
}

/**
 * The tenants' HTTPS server: takes webhooks at `/hook/<name>`, checks every signature, records everything, serves one
 * second of tone at `/tone.wav` and at every path below it, and takes media streams at `/stream/<mood>/…`.
 */
export interface Receiver {
  readonly baseUrl: string
  /** The same by WebSocket. */
  readonly socketUrl: string
  readonly streams: StreamServer.StreamServer
  /** Called before the first webhook of that subscription comes. */
  readonly knowSecret: (name: string, secret: string) => void
  /** From here on the service's wall clock may be off by so many milliseconds; its signatures are dated by it. */
  readonly knowWallClock: (offsetMs: number) => void
  readonly delivered: (name: string) => ReadonlyMap<string, Delivered>
  /** A line for each webhook that was not as it must be. */
  readonly violations: ReadonlyArray<string>
  /**
   * Gives each event to the listener the first time that any subscription gets it, until the returned function is
   * called.
   */
  readonly listen: (listener: (event: Event) => void) => () => void
  readonly close: () => Promise<void>
}

/** How old a signed timestamp may be, in seconds: each attempt is signed anew. */
const skewSecs = 60

export const start = async (
  certificate: TestCertificate,
  /** False: nothing is kept for `delivered`, so that a long run does not grow. */
  keeps = true
): Promise<Receiver> => {
  const secrets = new Map<string, string>()
  const byName = new Map<string, Map<string, Delivered>>()
  const heard = new Set<string>()
  const violations: Array<string> = []
  const wallClocks = new Set([0])
  const listeners = new Set<(event: Event) => void>()
  const tone = Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, 1000, 8000) })

  const fault = (name: string, request: IncomingMessage, body: string): string | null => {
    const timestamp = String(request.headers["x-webhook-timestamp"])
    const mac = createHmac("sha256", secrets.get(name) ?? "")
      .update(`${timestamp}.${body}`)
      .digest("hex")
    if (request.headers["x-webhook-signature"] !== `sha256=${mac}`) return "a wrong signature"
    const isNow = [...wallClocks].some(
      (offsetMs) => Math.abs((Date.now() + offsetMs) / 1000 - Number(timestamp)) <= skewSecs
    )
    if (!isNow) return `the old timestamp ${timestamp}`
    return null
  }

  const record = (name: string, request: IncomingMessage, body: string): void => {
    const wrong = fault(name, request, body)
    if (wrong !== null) return void violations.push(`a webhook to ${name} has ${wrong}: ${body.slice(0, 200)}`)
    const malformed = SeenEvent.faultOfBody(body)
    if (malformed !== null) violations.push(`a webhook to ${name} is not as its row says: ${malformed}`)
    const event = JSON.parse(body) as Event
    if (request.headers["x-webhook-event-id"] !== event.event_id)
      violations.push(`a webhook to ${name} names another event in its header than ${event.event_id}`)
    const events = byName.get(name) ?? new Map<string, Delivered>()
    byName.set(name, events)
    const before = events.get(event.event_id)
    if (before === undefined) {
      if (keeps) events.set(event.event_id, { body, event, attempts: 1 })
    } else {
      before.attempts++
      if (!isDeepStrictEqual(before.body, body))
        violations.push(`event ${event.event_id} came to ${name} again with other bytes`)
    }
    if (heard.has(event.event_id)) return
    heard.add(event.event_id)
    for (const listener of listeners) listener(event)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").replace(/\?.*/, "")
    if (path.startsWith("/tone.wav")) return void response.setHeader("content-type", "audio/wav").end(tone)
    record(path.replace(/^\/hook\//, ""), request, await text(request))
    response.end()
  }

  const server = createServer(certificate, (request, response) => {
    // A request that its process did not live to finish is no webhook.
    answer(request, response).catch(() => response.destroy())
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const streams = StreamServer.attach(server)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    baseUrl: `https://127.0.0.1:${port}`,
    socketUrl: `wss://127.0.0.1:${port}`,
    streams,
    knowWallClock: (offsetMs) => void wallClocks.add(offsetMs),
    knowSecret: (name, secret) => void secrets.set(name, secret),
    delivered: (name) => byName.get(name) ?? new Map(),
    violations,
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: async () => {
      streams.close()
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
