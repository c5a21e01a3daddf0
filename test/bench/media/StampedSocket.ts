import { createSocket } from "node:dgram"
import { createRequire } from "node:module"

export interface Datagram {
  /** Valid until the call returns. */
  readonly bytes: Uint8Array
  readonly fromPort: number
  /** The time of its arrival, in milliseconds of `process.hrtime`. */
  readonly atMs: number
}

/** A UDP socket on 127.0.0.1 that reports when each datagram arrived. */
export interface StampedSocket {
  readonly port: number
  /** Whether the kernel read the clock at the arrival, or this process when it read the datagram. */
  readonly clock: "kernel" | "receiver"
  readonly send: (bytes: Uint8Array, port: number) => void
  /** Hands over the datagrams that arrived since the last call. */
  readonly drain: (each: (datagram: Datagram) => void) => void
}

/** Uses the kernel's clock where this machine lets us read it (Linux with glibc, 64 bits), else our own. */
export const open = async (): Promise<StampedSocket> => {
  try {
    return ofKernel()
  } catch {
    return await ofReceiver()
  }
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6

const ofReceiver = (): Promise<StampedSocket> =>
  new Promise((resolve, reject) => {
    const socket = createSocket("udp4")
    let waiting: Array<Datagram> = []
    socket.once("error", reject)
    socket.on("message", (bytes, { port }) => waiting.push({ bytes, fromPort: port, atMs: nowMs() }))
    socket.bind(0, "127.0.0.1", () =>
      resolve({
        port: socket.address().port,
        clock: "receiver",
        send: (bytes, port) => socket.send(bytes, port, "127.0.0.1"),
        drain: (each) => {
          const arrived = waiting
          waiting = []
          arrived.forEach(each)
        }
      })
    )
  })

/** The functions of koffi that are used here. It has binaries for some machines only. */
interface Koffi {
  readonly load: (library: string) => {
    readonly func: (prototype: string) => (...args: ReadonlyArray<unknown>) => unknown
  }
  readonly address: (pointer: unknown) => bigint
  readonly view: (pointer: unknown, length: number) => ArrayBuffer
}

/** Constants of Linux, the same on x64 and arm64. */
const AF_INET = 2
const SOCK_DGRAM_NONBLOCK = 0o4002
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const SO_TIMESTAMPNS = 35
const MSG_DONTWAIT = 0x40
const CLOCK_REALTIME = 0
const loopback = 0x7f000001

/** Places in the memory that is shared with the kernel. */
const at = { header: 0, vector: 64, name: 96, nameLength: 112, option: 116, time: 120, control: 160, data: 512 }
const controlLength = 256
const dataLength = 2048
const size = at.data + 2 * dataLength
const sendData = at.data + dataLength

/** `recvmsg` of libc with SO_TIMESTAMPNS, socket(7). The stamp of the wall clock is converted to `hrtime`. */
const ofKernel = (): StampedSocket => {
  if (process.platform !== "linux") throw new Error("Linux only")
  const koffi: Koffi = createRequire(import.meta.url)("koffi")
  const libc = koffi.load("libc.so.6")
  const memory = libc.func("void *calloc(size_t count, size_t size)")(1, size)
  const base = Number(koffi.address(memory))
  const buffer = koffi.view(memory, size)
  const view = new DataView(buffer)
  const socket = libc.func("int socket(int, int, int)")
  const setsockopt = libc.func("int setsockopt(int, int, int, uintptr_t, uint32_t)")
  const bind = libc.func("int bind(int, uintptr_t, uint32_t)")
  const getsockname = libc.func("int getsockname(int, uintptr_t, uintptr_t)")
  const recvmsg = libc.func("int64_t recvmsg(int, uintptr_t, int)")
  const sendto = libc.func("int64_t sendto(int, uintptr_t, size_t, int, uintptr_t, uint32_t)")
  const clockGettime = libc.func("int clock_gettime(int, uintptr_t)")

  const succeeded = (result: unknown): number => {
    if (typeof result !== "number" || result < 0) throw new Error("a call of the kernel failed")
    return result
  }
  const pointer = (offset: number, to: number) => view.setBigUint64(offset, BigInt(base + to), true)
  const length = (offset: number, value: number) => view.setBigUint64(offset, BigInt(value), true)
  const nameAddress = (port: number) => {
    view.setUint16(at.name, AF_INET, true)
    view.setUint16(at.name + 2, port)
    view.setUint32(at.name + 4, loopback)
  }
  const option = (fd: number, name: number, value: number) => {
    view.setInt32(at.option, value, true)
    succeeded(setsockopt(fd, SOL_SOCKET, name, base + at.option, 4))
  }
  const timeAt = (offset: number) =>
    view.getBigInt64(offset, true) * 1_000_000_000n + view.getBigInt64(offset + 8, true)

  const fd = succeeded(socket(AF_INET, SOCK_DGRAM_NONBLOCK, 0))
  option(fd, SO_TIMESTAMPNS, 1)
  option(fd, SO_RCVBUF, 1 << 20)
  nameAddress(0)
  succeeded(bind(fd, base + at.name, 16))
  view.setUint32(at.nameLength, 16, true)
  succeeded(getsockname(fd, base + at.name, base + at.nameLength))
  const port = view.getUint16(at.name + 2)

  /** The wall clock minus `hrtime` in nanoseconds; a reading that was interrupted in the middle does not count. */
  let offset: bigint | null = null
  const compareClocks = () => {
    const before = process.hrtime.bigint()
    clockGettime(CLOCK_REALTIME, base + at.time)
    const after = process.hrtime.bigint()
    if (offset === null || after - before < 20_000n) offset = timeAt(at.time) - (before + after) / 2n
    return offset
  }

  const receive = (): number => {
    pointer(at.header, at.name)
    view.setUint32(at.header + 8, 16, true)
    pointer(at.header + 16, at.vector)
    length(at.header + 24, 1)
    pointer(at.header + 32, at.control)
    length(at.header + 40, controlLength)
    pointer(at.vector, at.data)
    length(at.vector + 8, dataLength)
    return Number(recvmsg(fd, base + at.header, MSG_DONTWAIT))
  }

  return {
    port,
    clock: "kernel",
    send: (bytes, to) => {
      new Uint8Array(buffer, sendData, dataLength).set(bytes)
      nameAddress(to)
      sendto(fd, base + sendData, bytes.length, MSG_DONTWAIT, base + at.name, 16)
    },
    drain: (each) => {
      const wallLead = compareClocks()
      for (let count = receive(); count >= 0; count = receive())
        each({
          bytes: new Uint8Array(buffer, at.data, count),
          fromPort: view.getUint16(at.name + 2),
          // The stamp follows the 16 octets of its control header.
          atMs: Number(timeAt(at.control + 16) - wallLead) / 1e6
        })
    }
  }
}
