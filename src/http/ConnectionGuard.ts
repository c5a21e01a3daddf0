import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as FairShare from "../domain/FairShare.ts"
import * as IpAddress from "../domain/IpAddress.ts"
import { ApiError, envelope } from "../domain/ApiError.ts"

/** What one connection may take, and all of them together. */
export interface Limits {
  /** Open at once; a further one is closed. One address has at most half of what the others leave. */
  readonly connections: number
  /**
   * Requests of one connection that wait behind the one that is answered, RFC 9112 section 9.3.2. The next one is refused
   * and the last to be answered; as many again behind that one end the connection at once.
   */
  readonly pipelined: number
  /** From the end of an answer to its last byte on its way to the client. */
  readonly writeMs: number
  /** How long a request may go on that has its answer already. */
  readonly lingerMs: number
}

/** What happens to connections, for those who count it. */
export interface Watch {
  /** `open`: how many there are now. */
  readonly opened: (open: number) => void
  readonly cut: (reason: Cut) => void
}

/**
 * Why a connection ended by us: there is no room (for anybody, or for its address), its answer is not read, its request
 * goes on behind its answer, or it asks for too much at once.
 */
export type Cut = "no_room" | "not_read" | "goes_on" | "pipelined"

type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface Line {
  readonly waiting: Array<readonly [IncomingMessage, ServerResponse]>
  busy: boolean
  /** Nothing more of it is served. */
  closing: boolean
  /** Requests that came behind the refused one: each is kept until the connection ends. */
  ignored: number
}

const tooMany = envelope(ApiError.of("service_unavailable", "too many requests wait on this connection"))

/**
 * Bounds what connections take of a server, and gives what serves their requests.
 *
 * Requests of one connection are served one after the other. What is left of one whose client has gone is not begun.
 *
 * `trusts`: whether an address is a trusted proxy's, behind which there are many clients; it has no share of its own.
 */
export const attach = (
  server: Server,
  options: {
    readonly limits: Limits
    readonly trusts: (address: string) => boolean
    readonly watch: Watch
    readonly serve: Serve
  }
): Serve => {
  const { limits, serve, trusts, watch } = options
  const lines = new WeakMap<Socket, Line>()
  const share = FairShare.make()
  let open = 0

  const cut = (socket: Socket, reason: Cut) => {
    if (socket.destroyed) return
    watch.cut(reason)
    socket.destroy()
  }

  server.maxConnections = limits.connections
  server.on("drop", () => watch.cut("no_room"))
  server.on("connection", (socket: Socket) => {
    const address = IpAddress.subscriber(socket.remoteAddress ?? null)
    const isProxy = trusts(socket.remoteAddress ?? "")
    if (!isProxy && !share.allows(address, open, limits.connections)) return cut(socket, "no_room")
    const line: Line = { waiting: [], busy: false, closing: false, ignored: 0 }
    lines.set(socket, line)
    share.take(address)
    watch.opened(++open)
    socket.once("close", () => {
      share.giveBack(address)
      watch.opened(--open)
      line.closing = true
      line.waiting.length = 0
    })
  })

  const begin = (line: Line, request: IncomingMessage, response: ServerResponse) => {
    line.busy = true
    let timer: NodeJS.Timeout | null = null
    const within = (ms: number, isOver: () => boolean, reason: Cut) => {
      clearTimeout(timer ?? undefined)
      timer = setTimeout(() => {
        if (!isOver()) cut(request.socket, reason)
      }, ms)
    }
    response.once("prefinish", () => within(limits.writeMs, () => response.writableFinished, "not_read"))
    response.once("finish", () => {
      clearTimeout(timer ?? undefined)
      if (request.complete) return
      within(limits.lingerMs, () => request.complete, "goes_on")
      request.once("close", () => clearTimeout(timer ?? undefined))
    })
    response.once("close", () => {
      if (!response.writableFinished) clearTimeout(timer ?? undefined)
      line.busy = false
      const next = line.waiting.shift()
      if (next !== undefined) begin(line, ...next)
    })
    serve(request, response)
  }

  return (request, response) => {
    const line = lines.get(request.socket)
    if (line === undefined) return
    if (line.closing) {
      if (++line.ignored >= limits.pipelined) request.socket.destroy()
      return
    }
    if (!line.busy) return begin(line, request, response)
    if (line.waiting.length < limits.pipelined) return void line.waiting.push([request, response])
    line.closing = true
    watch.cut("pipelined")
    response.writeHead(503, { "content-type": "application/json", connection: "close" })
    response.end(tooMany)
  }
}
