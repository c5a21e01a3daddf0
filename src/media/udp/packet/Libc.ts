import { createRequire } from "node:module"
import * as SocketName from "./SocketName.ts"

/** The part of koffi that is used. It has binaries for some machines only. */
interface Library {
  func(prototype: string): (...args: ReadonlyArray<unknown>) => unknown
}
interface Koffi {
  readonly load: (library: string | null) => Library
}

/** The machine, and the loader of koffi on it. */
interface Machine {
  readonly platform: string
  readonly arch: string
  readonly koffi: () => Koffi
}

/** Constants of Linux, from its generic headers: the same on x64 and arm64. */
const SOCK_DGRAM = 2
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const IPPROTO_IPV6 = 41
const IPV6_V6ONLY = 26
const MSG_DONTWAIT = 0x40
const EPOLL_CLOEXEC = 0o2000000
const EPOLL_CTL_ADD = 1
const EPOLLIN = 1
const POLLIN = 1
const IF_NAMESIZE = 16
/** `struct epoll_event` is packed on x64 only. */
const epollEvent = (arch: string) => (arch === "x64" ? { size: 12, tokenAt: 4 } : { size: 16, tokenAt: 8 })
/** The most sockets that one wait may name; the next wait names the others. */
const mostReady = 256

/** The machines that these constants and the layout of `SocketName` are valid for. */
const architectures = ["x64", "arm64"]

export type Libc = ReturnType<typeof calls>

/** Why the calls are not available, and whether that is a fault, because koffi has a binary for this machine. */
interface Unavailable {
  readonly type: "unavailable"
  readonly why: string
  readonly isFault: boolean
}

const on: Machine = {
  platform: process.platform,
  arch: process.arch,
  koffi: () => createRequire(import.meta.url)("koffi")
}

/**
 * Calls of the C library for UDP sockets, through koffi; never throws.
 *
 * Only this file passes memory to native code. Memory crosses as typed arrays only, which the engine does not move
 * during a call; neither side keeps a pointer, and no length exceeds its array.
 */
export const load = ({ arch, koffi, platform } = on): Libc | Unavailable => {
  if (platform !== "linux" || !architectures.includes(arch))
    return { type: "unavailable", why: `no kernel calls on ${platform} ${arch}`, isFault: false }
  try {
    // Loads the library that Node itself is linked with, glibc or musl.
    return calls(koffi().load(null), epollEvent(arch))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { type: "unavailable", why: `koffi did not load: ${why.split("\n")[0]}`, isFault: true }
  }
}

const calls = (library: Library, event: ReturnType<typeof epollEvent>) => {
  const socket = library.func("int socket(int, int, int)")
  const bind = library.func("int bind(int, const void *, uint32_t)")
  const setsockopt = library.func("int setsockopt(int, int, int, const void *, uint32_t)")
  const sendto = library.func("int64_t sendto(int, const void *, size_t, int, const void *, uint32_t)")
  const close = library.func("int close(int)")
  const epollCreate = library.func("int epoll_create1(int)")
  const epollCtl = library.func("int epoll_ctl(int, int, int, const void *)")
  const epollWait = library.func("int epoll_wait(int, void *, int, int)")
  const ppoll = library.func("int ppoll(void *, uint64_t, const void *, const void *)")
  const recvfrom = library.func("int64_t recvfrom(int, void *, size_t, int, void *, void *)")
  const ifIndextoname = library.func("void *if_indextoname(uint32_t, void *)")
  const ifNametoindex = library.func("uint32_t if_nametoindex(const char *)")

  /** Lets a socket on `::` take IPv4 too. */
  const takesBoth = (descriptor: number): boolean =>
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, new Int32Array([0]), 4) === 0

  return {
    type: "loaded" as const,
    /** Opens a UDP socket that is bound to this name; null: the kernel refuses it. On `::` it takes IPv4 too. */
    open: (name: SocketName.SocketName): number | null => {
      const family = SocketName.family(name)
      const descriptor = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      if (typeof descriptor !== "number" || descriptor < 0) return null
      const isReady = family === SocketName.AF_INET || takesBoth(descriptor)
      if (isReady && bind(descriptor, name, name.length) === 0) return descriptor
      close(descriptor)
      return null
    },
    /**
     * Sends the first `length` octets; when it returns, the kernel has them or never will. False: they were not sent.
     * Never waits: a datagram that does not fit into the socket's buffer is not sent.
     */
    send: (descriptor: number, bytes: Uint8Array, length: number, to: SocketName.SocketName): boolean =>
      descriptor >= 0 &&
      length >>> 0 === length &&
      length <= bytes.length &&
      sendto(descriptor, bytes, length, MSG_DONTWAIT, to, to.length) === length,
    /** Receives a datagram into `bytes`, and its sender's name. Returns its length, or -1: none. Never waits. */
    receive: (descriptor: number, bytes: Uint8Array, from: SocketName.NameBuffer): number => {
      from.length[0] = from.bytes.length
      return Number(recvfrom(descriptor, bytes, bytes.length, MSG_DONTWAIT, from.bytes, from.length))
    },
    /** Makes a set of descriptors to wait for together; null: the kernel has no more. Closed descriptors leave it. */
    watch: () => {
      const set = epollCreate(EPOLL_CLOEXEC)
      if (typeof set !== "number" || set < 0) return null
      const events = new Uint8Array(event.size * mostReady)
      const view = new DataView(events.buffer)
      const ready = (): number => Number(epollWait(set, events, mostReady, 0))
      // `struct pollfd` and `struct timespec`.
      const polled = new Int32Array([set, POLLIN])
      const time = new BigInt64Array(2)
      return {
        descriptor: set,
        add: (descriptor: number, token: number): boolean => {
          const added = new DataView(new ArrayBuffer(event.size))
          added.setUint32(0, EPOLLIN, true)
          added.setUint32(event.tokenAt, token, true)
          return epollCtl(set, EPOLL_CTL_ADD, descriptor, new Uint8Array(added.buffer)) === 0
        },
        /** Waits until one of them can be read, for `ms` at most, less than a second. Returns how many can be read. */
        wait: (ms: number): number => {
          const count = ready()
          if (count !== 0 || ms <= 0) return count
          // The time is exact to the microsecond, because a slot that is a millisecond late is audible as delay.
          time[1] = BigInt(Math.min(999_999_999, Math.round(ms * 1e6)))
          ppoll(polled, 1, time, null)
          return ready()
        },
        tokenOf: (index: number): number => view.getUint32(event.size * index + event.tokenAt, true)
      }
    },
    close: (descriptor: number): void => void close(descriptor),
    /** The number of a network interface; 0: none has this name. */
    interfaceOf: (name: string): number => Number(ifNametoindex(name)),
    /** The name of a network interface; null: none has this number. */
    interfaceName: (index: number): string | null => {
      const name = new Uint8Array(IF_NAMESIZE)
      if (ifIndextoname(index, name) === null) return null
      return new TextDecoder().decode(name.subarray(0, name.indexOf(0)))
    }
  }
}
