import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import * as FrameCount from "./FrameCount.ts"
import type { ReadTurns } from "./ReadTurns.ts"

/** The bounds of a handshake: heads of answers (interim ones, and the last), and the octets of all. */
const mostHeads = 8
const mostHeadOctets = 32 * 1024
/** How much is handed over at a time: of a head, and the cost of frames (`FrameCount`). */
const headPortion = 512
const framePortion = 8 * 1024
/** The cost of a portion of a head: each may be an answer, which costs more than frames. */
const headCost = 4 * 1024

const headEnd = Buffer.from("\r\n\r\n")

/** A message that is longer than this is the last of its portion. */
export const longMessage = 16 * 1024

/** A portion of a message that is worked on in several; false: it was the last. */
type Work = () => boolean

interface Options {
  readonly holder: string
  readonly turns: ReadTurns
  /** Called before a portion is handed over. */
  readonly read: (octets: number, frames: number) => void
  /** A bound was exceeded. */
  readonly exceeded: (detail: string) => void
}

/**
 * A connection to a WebSocket server whose octets are handed over in bounded portions, each in a turn (`ReadTurns`).
 * Meanwhile the connection is not read, so the server must wait. Answers of the handshake come one by one.
 */
export const make = (connection: Socket, { exceeded, holder, read, turns }: Options) => {
  const frames = FrameCount.make(longMessage)
  let pending: Buffer | null = null
  let isWanted = false
  let isHeld = false
  let isOpen = false
  let hasEnded = false
  let isOver = false
  let heads = 0
  let headOctets = 0
  /** The last octets of the present head, because its end may be cut. */
  let headTail: Buffer = Buffer.alloc(0)
  let work: Work | null = null
  let isAsked = false
  let leave: () => void = () => undefined

  const fetch = (): boolean => {
    // At the end this gives null, and makes the connection emit `end`.
    pending ??= connection.read() as Buffer | null
    return pending !== null
  }

  const ask = (): void => {
    if (isOver || isHeld || isAsked) return
    if (work === null && !isWanted) return
    if (work === null && !fetch()) {
      if (hasEnded) duplex.push(null)
      return
    }
    isAsked = true
    leave = turns.ask(holder, portion)
  }

  /** Returns the portion of an answer's head: it ends where the head ends. */
  const nextOfHead = (bytes: Buffer): FrameCount.Portion => {
    const piece = bytes.subarray(0, headPortion)
    const seen = Buffer.concat([headTail, piece])
    const at = seen.indexOf(headEnd)
    const octets = at === -1 ? piece.length : at + headEnd.length - headTail.length
    headTail = at === -1 ? seen.subarray(-3) : Buffer.alloc(0)
    headOctets += octets
    if (at !== -1) heads++
    return { octets, frames: 1, cost: headCost }
  }

  const portion = (): number => {
    isAsked = false
    if (isOver || isHeld) return 0
    if (work !== null) {
      if (!work()) work = null
      ask()
      return framePortion
    }
    const bytes = pending
    if (bytes === null) return 0
    const next = isOpen ? frames.next(bytes, framePortion) : nextOfHead(bytes)
    if (heads > mostHeads || headOctets > mostHeadOctets) {
      exceeded(heads > mostHeads ? "the handshake has too many answers" : "the handshake is too long")
      return next.cost
    }
    pending = next.octets < bytes.length ? bytes.subarray(next.octets) : null
    isWanted = false
    read(next.octets, next.frames)
    duplex.push(bytes.subarray(0, next.octets))
    return next.cost
  }

  const duplex = new Duplex({
    // With an empty buffer only is more asked for, so a portion is cut when the one before was taken and handled.
    readableHighWaterMark: 0,
    read: () => {
      isWanted = true
      ask()
    },
    write: (chunk: Buffer, _, done) => void connection.write(chunk, done),
    writev: (chunks, done) => {
      connection.cork()
      chunks.forEach(({ chunk }, index) =>
        connection.write(chunk as Buffer, index === chunks.length - 1 ? done : undefined)
      )
      connection.uncork()
    },
    final: (done) => void connection.end(done),
    destroy: (error, done) => {
      isOver = true
      leave()
      connection.destroy()
      done(error)
    }
  })
  // `ws` would set it, on a stream that has no such option: packets of 20 ms must not wait for acknowledgements.
  connection.setNoDelay(true)
  connection.on("readable", ask)
  connection.on("end", () => {
    hasEnded = true
    ask()
  })
  connection.on("error", (error) => duplex.destroy(error))
  connection.on("close", () => {
    if (!hasEnded) duplex.destroy()
  })

  return {
    duplex,
    /** The handshake is complete, so frames follow. */
    opened: (): void => void (isOpen = true),
    /** Does this work in portions before anything more is read. */
    first: (portions: Work): void => void (work = portions),
    /** Hands over nothing until `release`. */
    hold: (): void => void (isHeld = true),
    release: (): void => {
      isHeld = false
      ask()
    }
  }
}

export type PacedSocket = ReturnType<typeof make>
