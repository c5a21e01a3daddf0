import type { Closed, Open, Options } from "../../../src/ports/egress/WebSocketClient.ts"
import type { Pinned } from "../../../src/ports/egress/Pinned.ts"

/** One connection of a stream, from the side of its server. */
export interface Connection {
  readonly pinned: Pinned
  readonly options: Options
  /** Accepts the handshake. */
  readonly accept: () => void
  readonly say: (message: string | Uint8Array) => void
  /** Ends the connection from the server's side, or breaks it. */
  readonly end: (closed: Closed) => void
  /** The received messages in order. */
  readonly received: Array<string>
  /** The code of the service's close frame. */
  closedWith: number | null
  isPaused: boolean
  /** Whether the server reads; otherwise data waits at the service. */
  isReading: boolean
}

/** Longer texts are handed over in portions. */
const longText = 16 * 1024

/**
 * A network of sockets in memory, in which every opened connection has a server at once. `onOpen` is called with each.
 */
export const make = (onOpen: (connection: Connection) => void) => {
  const connections: Array<Connection> = []
  const open: Open = (pinned, options, handlers) => {
    let isOpen = false
    let isOver = false
    const unread: Array<string> = []
    const connection: Connection = {
      pinned,
      options,
      received: [],
      closedWith: null,
      isPaused: false,
      isReading: true,
      accept: () => {
        isOpen = true
        handlers.onOpen()
      },
      say: (message) => {
        if (isOver) return
        handlers.onRead?.(message.length, 1)
        if (typeof message !== "string" || message.length <= longText || handlers.onLongText === undefined)
          return handlers.onMessage(message)
        const portion = handlers.onLongText(Buffer.from(message))
        while (portion()) continue
      },
      end: (closed) => {
        if (isOver) return
        isOver = true
        handlers.onClose(closed)
      }
    }
    connections.push(connection)
    onOpen(connection)
    return {
      send: (message) => {
        if (!isOpen || isOver || typeof message !== "string") return false
        if (connection.isReading) connection.received.push(message)
        else unread.push(message)
        return true
      },
      bufferedBytes: () => unread.reduce((sum, message) => sum + message.length, 0),
      pause: () => {
        connection.isPaused = true
      },
      resume: () => {
        connection.isPaused = false
      },
      close: (code = 1000) => {
        connection.closedWith ??= code
        connection.received.push(...unread.splice(0))
      }
    }
  }
  return { connections, open }
}
