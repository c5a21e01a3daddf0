/**
 * Finds frames (RFC 6455 section 5.2) in the octets of a server, so that only a bounded number of them is handed to the
 * reader at a time: a frame costs the reader time even when it is empty. It checks nothing, because the reader does.
 * Mutable.
 */
export interface Portion {
  readonly octets: number
  /** The frames that begin in the portion. */
  readonly frames: number
  readonly cost: number
}

/** The cost of a frame without its octets, in octets: of one with data, and of a ping, which is answered. */
const dataCost = 128
const controlCost = 1024

export const make = (longMessage: number) => {
  /** The octets of the present header, and how many it has. */
  const header = new Uint8Array(10)
  let read = 0
  let size = 2
  let left = 0
  /** The octets of the present message in its frames so far. */
  let message = 0

  const isControl = (): boolean => (header[0] ?? 0) % 16 >= 8

  const readHeader = (octet: number): void => {
    header[read++] = octet
    if (read === 2) size = octet % 128 === 127 ? 10 : octet % 128 === 126 ? 4 : 2
    if (read < size) return
    const short = (header[1] ?? 0) % 128
    left = size === 2 ? short : header.subarray(2, size).reduce((sum, each) => sum * 256 + each, 0)
  }

  /** Ends a frame; returns whether it completes a long message. */
  const end = (): boolean => {
    read = 0
    size = 2
    if (isControl()) return false
    const isLong = message > longMessage
    const isLast = (header[0] ?? 0) >= 128
    if (isLast) message = 0
    return isLast && isLong
  }

  return {
    /** Returns the portion of these octets that is handed over next. It ends with a long message. */
    next: (bytes: Uint8Array, mostCost: number): Portion => {
      let at = 0
      let frames = 0
      let cost = 0
      while (at < bytes.length && cost < mostCost) {
        if (read < size) {
          if (read === 0) frames++
          readHeader(bytes[at++] ?? 0)
          if (read < size) continue
          cost += isControl() ? controlCost : dataCost
          if (!isControl()) message += left
        }
        const some = Math.min(left, bytes.length - at, Math.max(1, mostCost - cost))
        at += some
        cost += some
        left -= some
        if (left === 0 && end()) break
      }
      return { octets: at, frames, cost }
    }
  }
}
