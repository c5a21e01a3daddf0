import { connect as connectPlain, isIP, isIPv6, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { WebSocket } from "ws"
import * as Attended from "../../../domain/time/Attended.ts"
import type { Closed, Open, Options } from "../WebSocketClient.ts"
import { addressMs, type Pinned } from "../Pinned.ts"
import * as CheckedLookup from "./CheckedLookup.ts"
import * as NodeFailure from "./NodeFailure.ts"
import * as PacedSocket from "./PacedSocket.ts"
import type { ReadTurns } from "./ReadTurns.ts"
import * as Trust from "./Trust.ts"

/**
 * How long to wait for the other side's close frame, for the end of its connection after it, and for the messages that
 * are sent before our close frame.
 */
const closeMs = 2_000
/** The most parts of a message: frames, and pieces of a frame that wait for its end. */
const mostFragments = 1_024
const mostPieces = 8_192
/** The longest head of an answer, in octets. */
const longestHead = 16 * 1024

const urlOf = ({ host, path, port, secure }: Pinned): string =>
  `${secure ? "wss" : "ws"}://${isIPv6(host) ? `[${host}]` : host}:${port}${path}`

const ignore = (): void => undefined

const broken = (reason: Closed["reason"], detail: string): Closed => ({ reason, code: null, detail })

/** The error of `ws` has a code for a peer that breaks the protocol, and none for a wrong handshake. */
const fromError = (error: Error): Closed => {
  const code = "code" in error ? String(error.code) : null
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") return broken("too_large", "the message is too long")
  if (code === null || code.startsWith("WS_ERR_")) return broken("protocol", error.message)
  const { detail, reason } = NodeFailure.fromNode(error)
  return broken(reason, detail)
}

/** Connects to a checked address. */
const connect = (pinned: Pinned, { handshakeMs }: Options) => {
  const secureContext = Trust.contextOf(pinned.authorities)
  const target = {
    host: pinned.host,
    port: pinned.port,
    lookup: CheckedLookup.make(async () => pinned.addresses),
    // The time limit is short, and half of it is left for the address after the first.
    autoSelectFamilyAttemptTimeout: Math.min(addressMs, handshakeMs / 2)
  }
  return pinned.secure
    ? connectTls({
        ...target,
        servername: isIP(pinned.host) === 0 ? pinned.host : "",
        ...(secureContext === undefined ? {} : { secureContext })
      })
    : connectPlain(target)
}

/** Gives an error when a header or a protocol cannot be sent. */
const start = (
  pinned: Pinned,
  options: Options,
  paced: (connection: Socket) => PacedSocket.PacedSocket
): WebSocket | Error => {
  const asked = {
    headers: options.headers,
    // `ws` and Node's client of HTTP use nothing of a socket but its stream.
    createConnection: () => paced(connect(pinned, options)).duplex as Socket,
    maxHeaderSize: longestHead,
    maxPayload: options.maxMessageBytes,
    maxFragments: mostFragments,
    maxBufferedChunks: mostPieces,
    // The limit for a server that does not hang up after its close frame; the default is 30 seconds.
    closeTimeout: closeMs,
    perMessageDeflate: false,
    followRedirects: false
  }
  try {
    return new WebSocket(urlOf(pinned), [...options.protocols], asked)
  } catch (error) {
    return error instanceof Error ? error : new Error("cannot be sent")
  }
}

/**
 * `WebSocketClient.Open` by `ws`: it connects to a pinned address, without redirects and without compression (a small
 * frame could hold a large message). All connections that it opens are read in these turns.
 */
export const make =
  (turns: ReadTurns): Open =>
  (pinned, options, handlers) => {
    let paced: PacedSocket.PacedSocket | null = null
    const socket = start(pinned, options, (connection) => {
      paced = PacedSocket.make(connection, {
        holder: options.holder,
        turns,
        read: (octets, frames) => handlers.onRead?.(octets, frames),
        exceeded: (detail) => finish(broken("protocol", detail))
      })
      return paced
    })
    if (!(socket instanceof WebSocket)) {
      setImmediate(() => handlers.onClose(broken("protocol", socket.message)))
      return { bufferedBytes: () => 0, send: () => false, pause: ignore, resume: ignore, close: ignore }
    }
    let over = false
    // A thread that stood still has not read the pongs that came meanwhile.
    const time = Attended.make(options.pingMs, performance.now())
    let heardAt = 0
    let pinging: NodeJS.Timeout | undefined
    let closing: NodeJS.Timeout | undefined

    const finish = (closed: Closed): void => {
      if (over) return
      over = true
      clearTimeout(handshake)
      clearInterval(pinging)
      clearTimeout(closing)
      socket.terminate()
      handlers.onClose(closed)
    }
    const heard = (): void => void (heardAt = time.at(performance.now()))

    const handshake = setTimeout(
      () => finish(broken("timeout", "the handshake is not complete in time")),
      options.handshakeMs
    )
    socket.on("open", () => {
      paced?.opened()
      if (over) return
      clearTimeout(handshake)
      time.look(performance.now())
      heard()
      pinging = setInterval(() => {
        const now = time.look(performance.now())
        if (now - heardAt >= options.silenceMs) finish(broken("timeout", "the other side is silent"))
        else if (socket.readyState === WebSocket.OPEN) socket.ping()
      }, options.pingMs)
      handlers.onOpen()
    })
    socket.on("message", (data: Buffer, isBinary) => {
      if (over) return
      heard()
      if (isBinary) return handlers.onMessage(data)
      if (data.length <= PacedSocket.longMessage || handlers.onLongText === undefined)
        return handlers.onMessage(data.toString("utf8"))
      paced?.first(handlers.onLongText(data))
    })
    socket.on("ping", heard)
    socket.on("pong", heard)
    socket.on("unexpected-response", (_request, response) =>
      finish(broken("refused", `the server answered ${response.statusCode}`))
    )
    socket.on("error", (error) => finish(closing === undefined ? fromError(error) : broken("closed", error.message)))
    socket.on("close", (code, reason) =>
      finish(
        code === 1006
          ? broken("reset", "the connection was closed without a close frame")
          : { reason: "closed", code, detail: reason.toString("utf8") }
      )
    )

    return {
      bufferedBytes: () => socket.bufferedAmount,
      send: (message) => {
        if (socket.readyState !== WebSocket.OPEN) return false
        if (socket.bufferedAmount + Buffer.byteLength(message) > options.maxBufferedBytes) return false
        socket.send(message)
        return true
      },
      pause: () => paced?.hold(),
      resume: () => paced?.release(),
      close: (code = 1000, reason = "") => {
        if (over || closing !== undefined) return
        const cut = broken("closed", "the other side did not answer the close frame")
        closing = setTimeout(() => finish(cut), socket.readyState === WebSocket.CONNECTING ? 0 : closeMs)
        socket.close(code, reason)
      }
    }
  }
