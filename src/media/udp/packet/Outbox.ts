import type { Socket } from "node:dgram"

/** The most datagrams of one socket that may wait for the kernel. A leg that catches up sends five at once. */
export const maxWaiting = 16
const smallest = 256

interface Slot {
  storage: Uint8Array
  /** The beginning of `storage` that holds the datagram. */
  datagram: Uint8Array
  /** Called when the kernel has taken the datagram, or refused it. */
  readonly done: (error: Error | null) => void
}

/**
 * Sends datagrams that the caller gives away to one address, without a copy. Success is not reported, which saves a
 * callback for each. A datagram is dropped and `failed` is called only when too many wait (up to twice the usual
 * limit). All state is side by side in the variables of this function.
 */
const giverOf = (socket: Socket, port: number, address: string, failed: () => void) => {
  /** How many datagrams may be given before Node is asked again how many wait. */
  let mayGive = 0
  return (bytes: Uint8Array): void => {
    try {
      // The count is read again after each `maxWaiting` datagrams.
      if (mayGive === 0 && socket.getSendQueueCount() < maxWaiting) mayGive = maxWaiting
      if (mayGive === 0) return failed()
      mayGive--
      socket.send(bytes, port, address)
    } catch {
      // The socket is closed.
      failed()
    }
  }
}

/**
 * Sends datagrams that are only lent. Node keeps a datagram until the kernel has taken it, which is after `send` has
 * returned when the socket's buffer is full. So each is copied into a slot until then; slots are made when they are
 * first needed and reused.
 *
 * `failed` is called for each datagram that was not sent.
 */
export const make = (socket: Socket, failed: () => void) => {
  const free: Array<Slot> = []
  let made = 0

  const makeSlot = (): Slot => {
    const storage = new Uint8Array(smallest)
    const slot: Slot = {
      storage,
      datagram: storage,
      done: (error) => {
        if (error !== null) failed()
        free.push(slot)
      }
    }
    made++
    return slot
  }

  const fill = (slot: Slot, bytes: Uint8Array, length: number): void => {
    if (slot.storage.length < length) slot.storage = new Uint8Array(length)
    // Packets of one codec are equally long, so a new view is seldom needed.
    if (slot.datagram.length !== length || slot.datagram.buffer !== slot.storage.buffer)
      slot.datagram = slot.storage.subarray(0, length)
    slot.datagram.set(bytes.length === length ? bytes : bytes.subarray(0, length))
  }

  return {
    send: (bytes: Uint8Array, length: number, port: number, address: string): void => {
      const slot = free.pop() ?? (made < maxWaiting ? makeSlot() : undefined)
      if (slot === undefined) return failed()
      fill(slot, bytes, length)
      try {
        socket.send(slot.datagram, port, address, slot.done)
      } catch {
        // The socket is closed.
        failed()
        free.push(slot)
      }
    },
    giver: (port: number, address: string) => giverOf(socket, port, address, failed),
    waiting: (): number => made - free.length
  }
}
