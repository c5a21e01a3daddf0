import * as Descriptors from "./Descriptors.ts"
import * as KernelReceiver from "./KernelReceiver.ts"
import * as KernelSockets from "./KernelSockets.ts"
import * as Libc from "./Libc.ts"
import * as NodeSockets from "./NodeSockets.ts"
import type { Sockets } from "./UdpSocket.ts"

/** How packets are sent and received: by system calls, or by sockets of Node. */
export type PacketIo = "kernel" | "node"

export const all: ReadonlyArray<PacketIo> = ["kernel", "node"]

/** System calls are faster; where they are not available, sockets of Node are used. */
export const preferred: PacketIo = "kernel"

/** The kind in use. */
export interface Chosen {
  readonly io: PacketIo
  /** Why it is not the wanted one; null: it is. */
  readonly why: string | null
  /** Whether the wanted kind should work on this machine. */
  readonly isFault: boolean
}

interface Options extends Pick<KernelReceiver.Options, "descriptors" | "patience"> {
  readonly load?: typeof Libc.load
}

/** Returns sockets of the wanted kind, or those of Node if it is not available. */
export const choose = async (
  wanted: PacketIo,
  { descriptors, load = Libc.load, patience }: Options
): Promise<{ readonly chosen: Chosen; readonly sockets: Sockets }> => {
  const node = (why: string | null, isFault: boolean) => ({
    chosen: { io: "node", why, isFault } as const,
    sockets: NodeSockets.make
  })
  if (wanted === "node") return node(null, false)
  const libc = load()
  if (libc.type === "unavailable") return node(libc.why, libc.isFault)
  const receiver = await KernelReceiver.make({ libc, descriptors, patience })
  return receiver === null
    ? node("there is no way to wait beside the loop of Node", true)
    : {
        chosen: { io: "kernel", why: null, isFault: false },
        sockets: KernelSockets.make({ libc, receiver, descriptors })
      }
}

/** Closes the descriptors that an ended thread left open, so that its ports are free. */
export const closeLeft = (descriptors: Descriptors.Descriptors, load = Libc.load): void => {
  const left = Descriptors.left(descriptors)
  const libc = left.length === 0 ? null : load()
  if (libc?.type !== "loaded") return
  for (const descriptor of left) {
    Descriptors.closing(descriptors, descriptor)
    libc.close(descriptor)
  }
}
