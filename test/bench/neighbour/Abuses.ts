import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type ServerOptions } from "node:https"
import { Agent, type IncomingMessage, request, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"
import { type WebSocket, WebSocketServer } from "ws"
import type { Site } from "./Abuse.ts"

/**
 * The abuses by one tenant of each thing that tenants share. Each completes when the abuse is under way, and continues
 * until its process ends.
 */
export const table = {
  /** As many subscriptions as it may have, and calls whose digits are sent to all of them. */
  subscriptions: async (site: Site) => {
    const url = await receiver(site, (_, response) => response.end())
    await subscribe(site, url, Math.ceil(50 * site.size))
    calls(site, pressing, 20 * site.size)
  },
  /** Subscriptions to receivers that never answer. */
  "silent receivers": async (site: Site) => {
    const url = await receiver(site, () => undefined)
    await subscribe(site, url, Math.ceil(50 * site.size))
    calls(site, pressing, 20 * site.size)
  },
  /** A receiver that takes 200 ms, and more events than it can take. */
  "a slow receiver": async (site: Site) => {
    const url = await receiver(site, (_, response) => void delay(200).then(() => response.end()))
    await subscribe(site, url, 1)
    calls(site, pressing, 50 * site.size)
  },
  /** Calls with 27 playbacks each of half an hour. */
  "long MP3s": async (site: Site) => {
    const tone = readFileSync(new URL("../../protocol/audio/file/tone-440hz-16khz-mono.mp3", import.meta.url))
    const long = Buffer.concat(Array.from({ length: 1900 }, () => tone))
    const url = await receiver(site, (_, response) => response.setHeader("content-type", "audio/mpeg").end(long))
    const placed = await Promise.all(Array.from({ length: Math.ceil(8 * site.size) }, () => place(site, echoing, 600)))
    await delay(1500)
    for (const id of placed)
      for (let n = 0; n < 27; n++)
        void post(site, `/v1/calls/${id}/actions/play`, { url: `${url}/${id}/${n}.mp3`, loop: 100 })
  },
  /** Readers of long lists, page after page. */
  "list readers": async (site: Site) => {
    for (let n = 0; n < 30 * site.size; n++)
      forEver(async () => {
        for (const list of ["webhook-deliveries", "calls", "numbers"])
          await get(site, `/v1/${list}?page_size=200&page=${n + 1}`)
      })
  },
  /** A MiB of brackets, five times a second. */
  "nested JSON": async (site: Site) => {
    const body = `{"from":${"[".repeat(524_288)}${"]".repeat(524_288)}}`
    forEver(async () => {
      void raw(site, "POST", "/v1/calls", body)
      await delay(200)
    })
  },
  /** Porting documents of 10 MiB, 32 at once. */
  "long documents": async (site: Site) => {
    const body = JSON.stringify({ document_type: "loa", filename: "loa.pdf", content_base64: pdf(10 * 1024 * 1024) })
    for (let n = 0; n < 32 * site.size; n++)
      forEver(async () => {
        // An order has a limit of documents, which are deleted with it.
        const order = await post(site, "/v1/porting/orders", { phone_numbers: [`+1215555${1000 + n}`] })
        const path = `/v1/porting/orders/${/"id":"(svc_port_[^"]+)"/.exec(order)?.[1] ?? ""}`
        await raw(site, "POST", `${path}/documents`, body)
        await raw(site, "DELETE", path)
      })
  },
  /** Connections that send requests and never read. */
  "connections that never read": async (site: Site) => {
    const { hostname, port } = new URL(site.baseUrl)
    const one = `GET /v1/calls?page_size=200 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${site.apiKey}\r\n\r\n`
    // As many requests as a connection may send at once, and more.
    const asks = [one.repeat(5), one.repeat(20)]
    forEver(async () => {
      const sockets: Array<Socket> = []
      for (let n = 0; n < 2000 * site.size; n++) {
        const socket = connect(
          { port: Number(port), host: hostname, localAddress },
          () => void socket.pause().write(asks[n % 2] ?? one)
        )
        socket.on("error", () => undefined)
        sockets.push(socket)
        if (n % 100 === 99) await delay(20)
      }
      await delay(5000)
      for (const socket of sockets) socket.destroy()
    })
  },
  /** Signups whose clients hang up. */
  "signups that hang up": async (site: Site) => {
    let nth = 0
    for (let n = 0; n < 50 * site.size; n++)
      forEver(async () => {
        const body = JSON.stringify({
          email: `abuse-${process.pid}-${nth++}@example.com`,
          password: "correct horse battery",
          tenant_name: "Abuse",
          first_name: "A",
          last_name: "B"
        })
        await raw(site, "POST", "/v1/signup", body, 100)
        await delay(20)
      })
  },
  /** As many placements at once as connections allow. */
  "a burst of placements": async (site: Site) => {
    for (let n = 0; n < 100 * site.size; n++) forEver(() => place(site, echoing, 1))
  },
  /** Five streams whose server sends media messages of 933 kB without end. */
  "long stream messages": async (site: Site) => {
    const payload = Buffer.alloc(700_000, 0x55).toString("base64")
    const message = JSON.stringify({ event: "media", media: { payload } })
    await streams(site, Math.ceil(5 * site.size), (socket) => {
      const send = (): void => socket.send(message, (error) => (error ? undefined : send()))
      send()
    })
  },
  /** Five streams whose server sends messages of a thousand empty fragments without end. */
  "empty stream fragments": async (site: Site) => {
    const fragments = Buffer.alloc(2_002)
    fragments[0] = 0x01
    fragments[2_000] = 0x80
    const many = Buffer.concat(Array.from({ length: 32 }, () => fragments))
    await streams(site, Math.ceil(5 * site.size), (_, connection) => {
      const send = (): void => void connection.write(many, (error) => (error ? undefined : send()))
      send()
    })
  }
} satisfies Readonly<Record<string, (site: Site) => Promise<void>>>

export type Name = keyof typeof table

/** The abuser has a separate address, as strangers have. */
const localAddress = "127.0.0.2"
const agent = new Agent({ keepAlive: true, localAddress })

/** A phone that echoes; `pressing` presses digits all the time. */
const echoing = "+12025550100"
const pressing = "+12025550105"

/** A file of this many bytes that passes for a PDF, in base64. */
const pdf = (bytes: number): string => {
  const file = Buffer.alloc(bytes, "x")
  file.write("%PDF-1.7\n")
  file.write("\nstartxref\n0\n%%EOF\n", bytes - 19)
  return file.toString("base64")
}

const forEver = (work: () => Promise<unknown>): void => {
  void (async () => {
    for (;;) {
      await work()
      await delay(1)
    }
  })()
}

/** Sends a request and returns the body of its answer, empty without one. The abuser ignores the outcome. */
const raw = async (site: Site, method: string, path: string, body?: string, abortMs = 30_000): Promise<string> => {
  try {
    const asking = request(`${site.baseUrl}${path}`, {
      method,
      agent,
      signal: AbortSignal.timeout(abortMs),
      headers: {
        authorization: `Bearer ${site.apiKey}`,
        "content-type": "application/json",
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) })
      }
    })
    asking.end(body)
    const [response] = (await once(asking, "response")) as [IncomingMessage]
    return await text(response)
  } catch {
    await delay(50)
    return ""
  }
}
const get = (site: Site, path: string) => raw(site, "GET", path)
const post = (site: Site, path: string, body: object) => raw(site, "POST", path, JSON.stringify(body))

const place = async (site: Site, to: string, limitSecs: number): Promise<string> => {
  const answer = await post(site, "/v1/calls", { from: site.number, to, time_limit_secs: limitSecs })
  return /"id":"([^"]+)"/.exec(answer)?.[1] ?? ""
}

/** Keeps `count` calls alive, each for half a minute. */
const calls = (site: Site, to: string, count: number): void => {
  for (let n = 0; n < count; n++)
    forEver(async () => {
      await place(site, to, 30)
      await delay(30_000)
    })
}

/** Keeps calls alive with a stream each, to a server that does this with each connection. */
const streams = async (
  site: Site,
  count: number,
  connected: (socket: WebSocket, connection: Socket) => void
): Promise<void> => {
  const server = createServer(site.certificate as ServerOptions)
  new WebSocketServer({ server }).on("connection", (socket, { socket: connection }) => {
    socket.on("error", () => undefined).resume()
    connected(socket, connection)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const url = `wss://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`
  const started = Array.from({ length: count }, async () => {
    const id = await place(site, echoing, 600)
    await delay(1500)
    await post(site, `/v1/calls/${id}/actions/streaming_start`, { stream_url: url, stream_bidirectional_mode: "rtp" })
  })
  await Promise.all(started)
}

const subscribe = async (site: Site, url: string, count: number): Promise<void> => {
  for (let n = 0; n < count; n++)
    await post(site, "/v1/webhook-subscriptions", { target_url: `${url}/${n}`, event_types: ["*"] })
}

const receiver = async (
  { certificate }: Site,
  answer: (request: IncomingMessage, response: ServerResponse) => void
): Promise<string> => {
  const server = createServer(certificate as ServerOptions, (request, response) => {
    request.resume().on("end", () => answer(request, response))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return `https://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
}
