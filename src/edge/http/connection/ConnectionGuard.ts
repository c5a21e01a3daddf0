import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as FairShare from "../../../domain/fair/FairShare.ts"
import type * as LoopTurns from "../../../domain/fair/LoopTurns.ts"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import * as Resting from "../../../domain/fair/Resting.ts"
import { ApiError, envelope } from "../../../domain/ApiError.ts"
import * as ConnectionTurns from "./ConnectionTurns.ts"

/** Limits of each connection and of all connections together. */
export interface Limits {
  /**
   * The most open connections. One more replaces a resting connection of the site with most of them; it is closed when
   * none rests. One site has at most half of the places that the working connections of others leave; beyond that, it
   * replaces a resting connection of its own.
   */
  readonly connections: number
  /**
   * The most connections that are worked for at once, from their first byte. A further one is not read before its site
   * has its turn. One without a request, or whose body is late, keeps its turn for a second.
   */
  readonly atWork: number
  /**
   * The most requests of one connection that wait while another is answered, RFC 9112 section 9.3.2. The next one is
   * refused and the last to be answered; as many again after that one end the connection at once.
   */
  readonly pipelined: number
  /** The time from the end of an answer until its last byte is on its way to the client. */
  readonly writeMs: number
  /** How long a request may continue to arrive after its answer. */
  readonly lingerMs: number
}

/** Callbacks that count connections. */
export interface Watch {
  /** `open` is the current number. */
  readonly opened: (open: number) => void
  readonly cut: (reason: Cut) => void
}

/**
 * Why the service ended a connection: there is no room (at all, or for its site), it rested and another took its place,
 * its answer is not read, its request continues after its answer, or it sends too many requests at once.
 */
export type Cut = "no_room" | "replaced" | "not_read" | "goes_on" | "pipelined"

type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface Line {
  readonly site: string
  readonly isProxy: boolean
  readonly waiting: Array<readonly [IncomingMessage, ServerResponse]>
  /** Null while it has no turn. */
  turn: LoopTurns.Turn | null
  /** Ends a turn that waits too long for the client. */
  patience: NodeJS.Timeout | null
  busy: boolean
  /** No further request of it is served. */
  closing: boolean
  /** Requests that arrived after the refused one. Each is kept until the connection ends. */
  ignored: number
}

/** How long a connection that waits for its client keeps its turn. */
const patienceMs = 1_000

const tooMany = envelope(ApiError.of("service_unavailable", "too many requests wait on this connection"))

/**
 * Bounds what connections take of a server, and returns the listener that serves their requests.
 *
 * Requests of one connection are served one after the other. Requests that still wait when the client disconnects are
 * dropped.
 *
 * A connection rests while it waits for its client: for a request, for the rest of one, or until its answers are read.
 *
 * `trusts` recognizes trusted proxies. Many clients connect through one proxy, so its connections have no share as a
 * limit and do not rest.
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
  const turns = ConnectionTurns.make(limits.atWork)
  const lines = new WeakMap<Socket, Line>()
  const share = FairShare.make()
  const resting = Resting.make<Socket>()
  let open = 0

  const cut = (socket: Socket, reason: Cut) => {
    if (socket.destroyed) return
    watch.cut(reason)
    socket.destroy()
  }

  // This option of `net.Server` makes an unread connection cost nothing, whatever arrives on it and however it ends.
  Object.assign(server, { pauseOnConnect: true })
  server.on("connection", (socket: Socket) => {
    const site = IpAddress.site(socket.remoteAddress ?? null)
    const isProxy = trusts(socket.remoteAddress ?? "")
    // Resting connections of others can be replaced, so their places count as free.
    const used = open - resting.count() + resting.count(site)
    const isShareFull = !isProxy && !share.allows(site, used, limits.connections)
    if (isShareFull || open >= limits.connections) {
      const replaced = resting.next(isShareFull ? site : undefined)
      if (replaced === null) return cut(socket, "no_room")
      leave(replaced)
      cut(replaced, "replaced")
    }
    const line: Line = {
      site,
      isProxy,
      waiting: [],
      turn: null,
      patience: null,
      busy: false,
      closing: false,
      ignored: 0
    }
    lines.set(socket, line)
    share.take(site)
    rest(socket)
    watch.opened(++open)
    socket.once("close", () => leave(socket))
    inTurn(line, "connection", () => {
      socket.resume()
      wait(line, () => true)
    })
  })

  /** Gives the turn to others unless the client sends more soon. */
  const wait = (line: Line, isLate: () => boolean): void => {
    clearTimeout(line.patience ?? undefined)
    line.patience = setTimeout(() => {
      if (isLate()) giveBack(line)
    }, patienceMs)
  }

  const inTurn = (line: Line, what: Parameters<typeof turns.take>[1], start: () => void): void => {
    if (line.isProxy) start()
    else line.turn = turns.take(line.site, what, start)
  }
  const giveBack = (line: Line): void => {
    clearTimeout(line.patience ?? undefined)
    const { turn } = line
    line.turn = null
    turn?.leave()
  }

  const rest = (socket: Socket): void => {
    const line = lines.get(socket)
    if (line?.isProxy === false) resting.add(line.site, socket)
  }

  /** Frees the connection's place for another. */
  const leave = (socket: Socket): void => {
    const line = lines.get(socket)
    if (line === undefined) return
    lines.delete(socket)
    resting.remove(line.site, socket)
    share.giveBack(line.site)
    watch.opened(--open)
    line.closing = true
    line.waiting.length = 0
    giveBack(line)
  }

  const start = (line: Line, request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (socket.destroyed) return
    const work = () => {
      if (!response.writableEnded) resting.remove(line.site, socket)
    }
    if (hasBody(request)) {
      request.once("end", work)
      wait(line, () => !request.complete)
    } else work()
    let timer: NodeJS.Timeout | null = null
    const within = (ms: number, isOver: () => boolean, reason: Cut) => {
      clearTimeout(timer ?? undefined)
      timer = setTimeout(() => {
        if (!isOver()) cut(socket, reason)
      }, ms)
    }
    response.once("prefinish", () => {
      rest(socket)
      within(limits.writeMs, () => response.writableFinished, "not_read")
    })
    response.once("finish", () => {
      clearTimeout(timer ?? undefined)
      if (request.complete) return
      within(limits.lingerMs, () => request.complete, "goes_on")
      request.once("close", () => clearTimeout(timer ?? undefined))
    })
    response.once("close", () => {
      if (!response.writableFinished) clearTimeout(timer ?? undefined)
      const next = line.waiting.shift()
      if (next !== undefined) {
        if (line.turn !== null) return start(line, ...next)
        return inTurn(line, "request", () => start(line, ...next))
      }
      line.busy = false
      giveBack(line)
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
    if (!line.busy) {
      line.busy = true
      clearTimeout(line.patience ?? undefined)
      // Requests that arrived with this one are looked at first: a connection that is ended for sending too many never
      // begins.
      if (line.turn?.hasPlace() === true) process.nextTick(start, line, request, response)
      else inTurn(line, "request", () => process.nextTick(start, line, request, response))
      return
    }
    if (line.waiting.length < limits.pipelined) return void line.waiting.push([request, response])
    line.closing = true
    watch.cut("pipelined")
    response.writeHead(503, { "content-type": "application/json", connection: "close" })
    response.end(tooMany)
  }
}

/** RFC 9112 section 6.3. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0
