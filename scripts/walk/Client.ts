import { Agent, request as httpRequest } from "node:http"
import type { Normal } from "./Normal.ts"
import type { Entry } from "./Record.ts"

export interface Sent {
  readonly method: string
  /** As it goes over the wire, with its query. */
  readonly path: string
  readonly headers?: Readonly<{ [name: string]: string | ReadonlyArray<string> }>
  readonly body?: string | Buffer
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The body when it is JSON, else null. */
  readonly json: unknown
}

export interface Client {
  /** Sends a request and records what came of it. */
  readonly ask: (sent: Sent) => Promise<Answer>
  /** Sends a request beside the walk: it is neither counted nor recorded. */
  readonly look: (sent: Sent) => Promise<Answer>
  readonly entries: ReadonlyArray<Entry>
}

interface Got extends Answer {
  readonly head: string
}

const answerMs = 60_000
/** A 503 means that nothing has happened. On a busy machine it may come of waiting, so the request is sent again. */
const tries = 8
const retryMs = 500
/** Bodies of other types depend on sound and time; their type says enough. */
const readable = /json|text|csv|html|javascript|css/
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const exchange = (base: URL, agent: Agent, sent: Sent): Promise<Got> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: base.hostname,
        port: base.port,
        agent,
        method: sent.method,
        path: sent.path,
        headers: {
          ...sent.headers,
          ...(sent.body === undefined ? {} : { "content-length": String(Buffer.byteLength(sent.body)) })
        },
        timeout: answerMs
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).once("error", reject)
        response.once("end", () => {
          const body = Buffer.concat(chunks)
          const isReadable = readable.test(response.headers["content-type"] ?? "json")
          const text = isReadable ? body.toString("utf8") : "<binary>"
          const head: Array<string> = []
          for (let at = 0; at < response.rawHeaders.length; at += 2) {
            const [name = "", value = ""] = response.rawHeaders.slice(at, at + 2)
            if (/^date$/i.test(name)) continue
            // A length differs with what is normalised in the body; whether it is right does not.
            const isLength = /^content-length$/i.test(name) && (sent.method === "HEAD" || Number(value) === body.length)
            head.push(`${name}: ${isLength ? "<length of the body>" : value}`)
          }
          const json = parsed(text)
          resolve({ status: response.statusCode ?? 0, head: head.join("\n"), text, json })
        })
      }
    )
    request.once("error", reject).once("timeout", () => request.destroy(new Error("no answer")))
    request.end(sent.body)
  })

export const make = (baseUrl: string, normal: Normal): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const entries: Array<Entry> = []
  const send = async (sent: Sent): Promise<Got> => {
    for (let left = tries; ; left--) {
      const got = await exchange(new URL(baseUrl), agent, sent).catch((cause: unknown) => {
        throw new Error(`${sent.method} ${sent.path}`, { cause })
      })
      if (got.status !== 503 || left <= 1) return got
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  return {
    entries,
    look: send,
    ask: async (sent) => {
      const got = await send(sent)
      const headers = Object.entries(sent.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`)
      const body = typeof sent.body === "string" && sent.body.length < 4096 ? [sent.body] : []
      const request = [...headers, ...body].join("\n")
      const line = `${sent.method} ${sent.path}`
      entries.push({
        name: normal.text(`${entries.length + 1} ${line}`),
        text: normal.text(`${request}\n→ ${got.status}\n${got.head}\n${got.text}`)
      })
      return got
    }
  }
}
