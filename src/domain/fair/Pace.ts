import * as LoopTurns from "./LoopTurns.ts"
import * as Policies from "./Policies.ts"

/**
 * Reads many long bodies without holding up the rest of the thread. In each turn of the event loop one body has its
 * turn, shared fairly among the holders (tenants), and reads what its connection has buffered; the stream bounds that.
 * A waiting body is not read from its socket, so its sender waits too.
 */
export interface Pace {
  /**
   * Has `read` called once, in the holder's turn; `read` returns how many bytes it took. Returns a function that leaves
   * the line.
   */
  readonly ask: (holder: string, read: () => number) => () => void
}

export const make = (nextTurn?: LoopTurns.Options["nextTurn"]): Pace => {
  const turns = LoopTurns.make({ ...Policies.bodyTurns, ...(nextTurn && { nextTurn }) })
  return {
    ask: (holder, read) => {
      const turn: LoopTurns.Turn = turns.take(holder, () => turn.leave(read()))
      return () => turn.leave()
    }
  }
}

/** The part of a `Readable` of `node:stream` that is used here. The stream bounds its buffer. */
interface Buffering {
  readonly read: () => unknown
  readonly on: (event: "readable", listener: () => void) => unknown
  readonly off: (event: "readable", listener: () => void) => unknown
  readonly once: (event: "close", listener: () => void) => unknown
}

/**
 * Reads a body in its turns only (`ask`); each turn takes what is buffered by then. The body itself reports its end and
 * its errors. Returns a function that stops the reading.
 */
export const follow = (
  body: Buffering,
  ask: (read: () => number) => () => void,
  take: (chunk: Uint8Array<ArrayBuffer>) => void
): (() => void) => {
  let leave: (() => void) | null = null
  const read = (): number => {
    leave = null
    // The read at the end gives null, and makes the stream emit `end`.
    const chunk = body.read() as Uint8Array<ArrayBuffer> | null
    if (chunk !== null) take(chunk)
    return chunk?.length ?? 0
  }
  const line = () => {
    leave ??= ask(read)
  }
  const stop = () => {
    body.off("readable", line)
    leave?.()
    leave = null
  }
  body.on("readable", line)
  body.once("close", stop)
  return stop
}
