import * as FairQueue from "../../domain/fair/FairQueue.ts"

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

/** Each request waits at most once, and far fewer requests than this are under way. */
const room = 65_536

interface Turn {
  readonly holder: string
  readonly read: () => number
}

export const make = (nextTurn: (then: () => void) => void = (then) => void setImmediate(then)): Pace => {
  const line = FairQueue.make<Turn>({ places: 1, room })
  let isAwaited = false

  const schedule = (): void => {
    if (isAwaited || line.waiting() === 0) return
    isAwaited = true
    nextTurn(give)
  }

  const give = (): void => {
    isAwaited = false
    const turn = line.next()
    if (turn !== null) line.end(turn.holder, turn.read())
    schedule()
  }

  return {
    ask: (holder, read) => {
      const turn: Turn = { holder, read }
      line.add(holder, turn)
      schedule()
      return () => line.leave(holder, turn)
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
