import type { TenantId } from "../../domain/Id.ts"
import type { Pinned } from "../../ports/egress/Pinned.ts"
import type { Closed, Link, Open } from "../../ports/egress/WebSocketClient.ts"
import type * as Message from "../../ports/media/StreamMessages.ts"
import * as ConnectAttempts from "./ConnectAttempts.ts"

/** A longer message of the server ends the stream. */
const maxMessageBytes = 1024 * 1024
/** The most octets that may wait for the network. */
export const mostBuffered = 4 * 1024 * 1024
const pingMs = 20_000
/** The silence is detected at the ping after the second one that was not answered. */
const silenceMs = 2 * pingMs + pingMs / 4

interface Options {
  readonly open: Open
  readonly tenant: TenantId
  /** How long the first attempt waits. */
  readonly waitMs: number
  readonly token: string | null
  readonly clock: () => number
  /** Requests the server's address; answered by `reached` or `unreachable`. */
  readonly reach: (timeoutMs: number) => void
  /** Runs a callback of the network. */
  readonly guarded: (act: () => void) => void
  readonly opened: () => void
  readonly said: (message: string | Uint8Array) => void
  /** Starts on a long text; each call of the result does a portion of the work, until it gives false. */
  readonly saidLong: (text: Uint8Array) => () => boolean
  /** Called before this much is read. */
  readonly read: (octets: number, frames: number) => void
  /** How long a connection that broke is tried again; 0: not at all. */
  readonly againMs: number
  /** The open connection broke, and is tried again. */
  readonly lost: () => void
  /** The open connection has ended; null: by a close frame. */
  readonly closed: (failure: Message.Failure | null, detail: string) => void
  /** The last attempt failed. */
  readonly failed: (failure: Message.Failure, detail: string) => void
}

/**
 * The connection of a stream to its server, attempted some times (`ConnectAttempts`), and again after it broke if the
 * stream asks for that, guide/streams.md#connecting.
 */
interface StreamSocket {
  /** Begins the first attempt, or lets it wait. */
  readonly start: () => void
  readonly reached: (pinned: Pinned) => void
  readonly unreachable: (detail: string, isFinal: boolean) => void
  /** Called once a round until it is open: begins the next attempt, or gives up. */
  readonly tick: (now: number) => void
  readonly isOpen: () => boolean
  /** False: it could not be sent. */
  readonly send: (text: string) => boolean
  readonly bufferedBytes: () => number
  readonly pause: () => void
  readonly resume: () => void
  /** Closes the connection; later callbacks come only through `guarded`. */
  readonly close: (code: number) => void
}

/** Errors in the server's use of the protocol are its own; all others belong to the connection. */
const failureOf = ({ reason }: Closed): Message.Failure =>
  reason === "protocol" || reason === "too_large" ? "protocol_error" : "connection_failed"

/** Codes of a server that is done with the stream; others report a shutdown, a restart or a fault of it. */
const finalCodes: ReadonlySet<number | null> = new Set([1000, 1005])

export const make = ({
  againMs,
  clock,
  closed,
  failed,
  guarded,
  lost,
  open,
  opened,
  reach,
  read,
  said,
  saidLong,
  tenant,
  token,
  waitMs
}: Options): StreamSocket => {
  let attempts = ConnectAttempts.first(clock(), waitMs)
  let link: Link | null = null
  let isOpen = false

  const tryAgain = (failure: Message.Failure, detail: string, isFinal: boolean): void => {
    const next = isFinal ? null : ConnectAttempts.failed(attempts, clock())
    if (next === null) return failed(failure, detail)
    attempts = next
    link = null
  }

  const onClose = (how: Closed): void => {
    if (!isOpen) return tryAgain(failureOf(how), how.detail, false)
    isOpen = false
    link = null
    if (againMs > 0 && failureOf(how) === "connection_failed" && !finalCodes.has(how.code)) {
      attempts = ConnectAttempts.afterLoss(clock(), againMs)
      return lost()
    }
    closed(how.reason === "closed" ? null : failureOf(how), how.detail)
  }

  const start = (): void => reach(ConnectAttempts.patienceMs(attempts, clock()))

  return {
    start: () => {
      if (attempts.nextAt === null) start()
    },
    reached: (pinned) => {
      if (link !== null) return
      const made = open(
        pinned,
        {
          holder: tenant,
          headers: token === null ? {} : { authorization: `Bearer ${token}` },
          protocols: [],
          handshakeMs: ConnectAttempts.patienceMs(attempts, clock()),
          maxMessageBytes,
          maxBufferedBytes: mostBuffered,
          pingMs,
          silenceMs
        },
        {
          onOpen: () =>
            guarded(() => {
              isOpen = true
              opened()
            }),
          onMessage: (message) => guarded(() => said(message)),
          onLongText: (text) => {
            let next: () => boolean = () => false
            guarded(() => (next = saidLong(text)))
            return () => {
              let isLeft = false
              guarded(() => (isLeft = next()))
              return isLeft
            }
          },
          onRead: (octets, frames) => guarded(() => read(octets, frames)),
          onClose: (how) => {
            if (link === made) guarded(() => onClose(how))
          }
        }
      )
      link = made
    },
    unreachable: (detail, isFinal) => tryAgain("connection_failed", detail, isFinal),
    tick: (now) => {
      const due = ConnectAttempts.due(attempts, now)
      if (due !== null) {
        attempts = due
        return start()
      }
      if (ConnectAttempts.isOver(attempts, now)) failed("connection_failed", "it took too long")
    },
    isOpen: () => isOpen,
    send: (text) => link?.send(text) ?? false,
    bufferedBytes: () => link?.bufferedBytes() ?? 0,
    pause: () => link?.pause(),
    resume: () => link?.resume(),
    close: (code) => {
      isOpen = false
      link?.close(code)
    }
  }
}
