import * as Descriptors from "./Descriptors.ts"
import * as KernelReceiver from "./KernelReceiver.ts"
import * as KernelSockets from "./KernelSockets.ts"
import * as Libc from "./Libc.ts"
import * as NodeSockets from "./NodeSockets.ts"
import type { Sockets } from "./UdpSocket.ts"

/** How packets come and go: by calls of the kernel, or by sockets of Node. */
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

export interface Options extends Pick<KernelReceiver.Options, "descriptors" | "patience"> {
  readonly load?: typeof Libc.load
}

/** Sockets of the kind that is wanted, or those of Node. */
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

/** Closes what a thread that has ended left open, so that its ports are free. */
export const closeLeft = (descriptors: Descriptors.Descriptors, load = Libc.load): void => {
  const left = Descriptors.left(descriptors)
  const libc = left.length === 0 ? null : load()
  if (libc?.type !== "loaded") return
  for (const descriptor of left) {
    Descriptors.closing(descriptors, descriptor)
    libc.close(descriptor)
  }
}
