import type { Address } from "../../rtp/PacketPort.ts"
import * as Descriptors from "./Descriptors.ts"
import type { Libc } from "./Libc.ts"
import * as NodeLoop from "./NodeLoop.ts"
import * as SocketName from "./SocketName.ts"

/** The longest possible datagram. */
const longest = 65_536
/** Longer datagrams get memory of their own. */
const longestShared = 2_048
/** The token of Node's own descriptor. */
const ofNode = 0

type Heard = (bytes: Uint8Array, from: Address) => void

/** The receiving side of a socket. */
export interface Received {
  /** Passes every datagram to `heard` from now on; called once. */
  readonly listen: (heard: Heard) => void
  /** Stops receiving. Called before its descriptor is closed. */
  readonly close: () => void
}

export interface Options {
  readonly libc: Libc
  readonly descriptors: Descriptors.Descriptors
  /**
   * Called before each wait: does the work that is due on this thread, and returns how many milliseconds it may wait.
   * Node's timers are delayed meanwhile.
   */
  readonly patience: () => number
}

/**
 * Receives from the sockets of a thread by system calls. While there are any, the thread waits for them and for Node's
 * own events at once: each turn is an immediate, which ends when something has come, and Node then handles its events
 * without waiting. Each socket is read once a turn, so one that floods is no burden to the others.
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
  const sender = SocketName.buffer()
  let lastToken = ofNode
  let isTurning = false
  /** The memory that datagrams are handed out of, one after the other; it is freed with the last of them. */
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
    // The next turn is scheduled first, so that turns continue whatever the receivers do.
    setImmediate(turn)
    const count = watch.wait(patience())
    // A socket that another socket's receiver has closed is no longer in the map.
    for (let i = 0; i < count; i++) sockets.get(watch.tokenOf(i))?.()
  }

  return {
    /** Watches a descriptor; null: that is not possible. */
    add: (descriptor: number): Received | null => {
      const token = ++lastToken
      if (!watch.add(descriptor, token)) return null
      const known = SocketName.buffer()
      let from: Address = { address: "", port: 0 }
      return {
        listen: (heard) => {
          sockets.set(token, () => {
            const length = libc.receive(descriptor, storage, sender)
            if (length < 0) return
            // Most datagrams come from the same source as the last one.
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
