import type { Address } from "../../rtp/PacketPort.ts"
import * as Descriptors from "./Descriptors.ts"
import type { Libc } from "./Libc.ts"
import * as NodeLoop from "./NodeLoop.ts"
import * as SocketName from "./SocketName.ts"

/** No datagram is longer. */
const longest = 65_536
/** Longer ones have memory of their own. */
const longestShared = 2_048
/** The token of what Node itself waits for. */
const ofNode = 0

type Heard = (bytes: Uint8Array, from: Address) => void

/** What is received by a socket. */
export interface Received {
  /** Once: from now on every datagram is heard. */
  readonly listen: (heard: Heard) => void
  /** Nothing is heard any more. Called before its descriptor is closed. */
  readonly close: () => void
}

export interface Options {
  readonly libc: Libc
  readonly descriptors: Descriptors.Descriptors
  /**
   * Called before each wait: takes what is due on this thread, and tells for how many milliseconds nothing is. Timers of
   * Node wait meanwhile.
   */
  readonly patience: () => number
}

/**
 * Receives from the sockets of a thread by calls of the kernel. While there are any, the thread waits for them and for
 * all that Node waits for at once: each turn is an immediate, which ends when something has come, and Node then takes what
 * is its own without waiting. Each socket is read from once a turn, so one that floods is no burden to the others.
 *
 * Null: there is no way to wait for both.
 */
export const make = async ({ descriptors, libc, patience }: Options) => {
  const node = await NodeLoop.descriptor(libc)
  const watch = node === null ? null : libc.watch()
  if (node === null || watch === null) return null
  Descriptors.opened(descriptors, watch.descriptor)
  if (!watch.add(node, ofNode)) return null
  const sockets = new Map<number, () => void>()
  const storage = new Uint8Array(longest)
  const sender = SocketName.room()
  let lastToken = ofNode
  let isTurning = false
  /** Memory that datagrams are handed out of, one after the other; it goes when the last of them is gone. */
  let shared = new Uint8Array(0)
  let used = 0

  const handOut = (length: number): Uint8Array => {
    if (length > longestShared) return storage.slice(0, length)
    if (used + length > shared.length) {
      shared = new Uint8Array(longest)
      used = 0
    }
    const bytes = shared.subarray(used, used + length)
    used += length
    for (let i = 0; i < length; i++) bytes[i] = storage[i] ?? 0
    return bytes
  }

  const turn = (): void => {
    isTurning = sockets.size > 0
    if (!isTurning) return
    // Before anything is heard: whatever becomes of that, the turns go on.
    setImmediate(turn)
    const count = watch.wait(patience())
    // One that was closed by what another heard is there no more.
    for (let i = 0; i < count; i++) sockets.get(watch.tokenOf(i))?.()
  }

  return {
    /** Null: it cannot be watched. */
    add: (descriptor: number): Received | null => {
      const token = ++lastToken
      if (!watch.add(descriptor, token)) return null
      const known = SocketName.room()
      let from: Address = { address: "", port: 0 }
      return {
        listen: (heard) => {
          sockets.set(token, () => {
            const length = libc.receive(descriptor, storage, sender)
            if (length < 0) return
            // Most come from where the last one came from.
            if (SocketName.keep(sender, known)) from = SocketName.read(sender, libc.interfaceName)
            heard(handOut(length), from)
          })
          if (!isTurning) setImmediate(turn)
          isTurning = true
        },
        close: () => void sockets.delete(token)
      }
    }
  }
}

export type KernelReceiver = NonNullable<Awaited<ReturnType<typeof make>>>
