import * as FairQueue from "../../domain/fair/FairQueue.ts"

/**
 * Lets many long bodies be read without holding up what else the thread does: one of them has its turn in each turn of
 * the event loop, the holders (tenants) by their fair shares, and reads what its connection has buffered, which the
 * stream bounds. A body that waits is not read from its socket, so the other side waits too.
 */
export interface Pace {
  /** Has `read` called once, in the holder's turn; it answers how many bytes it took. Returns how to leave the line. */
  readonly ask: (holder: string, read: () => number) => () => void
}

/** Far more than requests may be under way, each of which waits once. */
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

/** A `Readable` of `node:stream`, which bounds what it buffers. */
interface Buffering {
  readonly read: () => unknown
  readonly on: (event: "readable", listener: () => void) => unknown
  readonly off: (event: "readable", listener: () => void) => unknown
  readonly once: (event: "close", listener: () => void) => unknown
}

/**
 * Reads a body in its turns only (`ask`), each of which takes what is buffered by then. Its end and its errors are told by
 * the body itself. Returns how to read no more.
 */
export const follow = (
  body: Buffering,
  ask: (read: () => number) => () => void,
  take: (chunk: Uint8Array<ArrayBuffer>) => void
): (() => void) => {
  let leave: (() => void) | null = null
  const read = (): number => {
    leave = null
    // Also at the end, where nothing is left: `end` comes of it.
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
