import * as KernelSockets from "./KernelSockets.ts"
import * as Libc from "./Libc.ts"
import * as NodeSockets from "./NodeSockets.ts"
import type { Sockets } from "./UdpSocket.ts"

/** How packets leave: by calls of the kernel, or by sockets of Node. */
export type PacketIo = "kernel" | "node"

export const all: ReadonlyArray<PacketIo> = ["kernel", "node"]

/** Faster where it can be had; where not, it is as `node`. */
export const preferred: PacketIo = "kernel"

/** What is used. */
export interface Chosen {
  readonly io: PacketIo
  /** Why it is not what was wanted; null: it is. */
  readonly why: string | null
  /** Whether what was wanted should work on this machine. */
  readonly isFault: boolean
}

/** Sockets of the kind that is wanted, or those of Node. */
export const choose = (wanted: PacketIo, load = Libc.load): { readonly chosen: Chosen; readonly sockets: Sockets } => {
  if (wanted === "node") return { chosen: { io: "node", why: null, isFault: false }, sockets: NodeSockets.make }
  const libc = load()
  return libc.type === "loaded"
    ? { chosen: { io: "kernel", why: null, isFault: false }, sockets: KernelSockets.make(libc) }
    : { chosen: { io: "node", why: libc.why, isFault: libc.isFault }, sockets: NodeSockets.make }
}
