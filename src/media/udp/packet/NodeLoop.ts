import { createSocket } from "node:dgram"
import { readdirSync, readFileSync } from "node:fs"
import type { Libc } from "./Libc.ts"
import * as SocketName from "./SocketName.ts"

/** The most rounds of the loop until it watches a new socket. */
const patience = 10

/** Returns the epoll set of this process that watches a descriptor, from proc_pid_fdinfo(5). */
const setThatWatches = (watched: number): number | null => {
  const line = new RegExp(`^tfd:\\s+${watched} `, "m")
  for (const name of readdirSync("/proc/self/fdinfo"))
    try {
      if (line.test(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))) return Number(name)
    } catch {
      // The descriptor was closed meanwhile.
    }
  return null
}

/**
 * Returns the descriptor by which the loop of this thread waits (libuv's `uv_backend_fd`, made for embedding): it is
 * readable when there is an event for Node. Node does not expose it, so the epoll sets of the process are searched for
 * a socket of Node. Null: it was not found.
 */
export const descriptor = async (libc: Libc): Promise<number | null> => {
  const name = SocketName.make({ address: "127.0.0.1", port: 0 }, () => 0)
  const watched = name === null ? null : libc.open(name)
  if (watched === null) return null
  const socket = createSocket("udp4")
  try {
    socket.bind({ fd: watched, exclusive: true })
    // The loop begins to watch a socket when it next waits.
    for (let round = 0; round < patience; round++) {
      await new Promise((resolve) => setImmediate(resolve))
      const found = setThatWatches(watched)
      if (found !== null) return found
    }
    return null
  } catch {
    return null
  } finally {
    socket.close()
  }
}
