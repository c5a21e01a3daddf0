import type { IncomingMessage } from "node:http"

/** How much of the rest of an answer is read and dropped, so that its connection can be used again. */
export interface Bounds {
  /** The answers of one destination that are drained at once; the connection of a further one is closed. */
  readonly places: number
  readonly bytes: number
  readonly forMs: number
}

/** Reads the rest of an answer and drops it. The connection is closed at the first bound. */
export type Drain = (response: IncomingMessage) => void

const byDefault: Bounds = { places: 64, bytes: 65_536, forMs: 1_000 }

/**
 * Drains answers whose rest is not wanted. The places are counted by destination, so that answers which never end hold
 * no connection to another one.
 */
export const make = ({ bytes, forMs, places }: Bounds = byDefault) => {
  const draining = new Map<string, number>()
  return {
    at:
      (destination: string): Drain =>
      (response) => {
        if (response.closed || response.destroyed) return
        const taken = draining.get(destination) ?? 0
        if (taken >= places) return void response.destroy()
        draining.set(destination, taken + 1)
        const timer = setTimeout(() => response.destroy(), forMs)
        let dropped = 0
        response.on("data", (chunk: Uint8Array) => {
          dropped += chunk.length
          if (dropped > bytes) response.destroy()
        })
        response.once("close", () => {
          clearTimeout(timer)
          const left = (draining.get(destination) ?? 1) - 1
          if (left === 0) draining.delete(destination)
          else draining.set(destination, left)
        })
      }
  }
}
