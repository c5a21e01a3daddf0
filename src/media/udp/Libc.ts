import { createRequire } from "node:module"
import * as SocketName from "./SocketName.ts"

/** The little that is used of koffi, which has binaries for some machines only. */
interface Library {
  func(prototype: string): (...args: ReadonlyArray<unknown>) => unknown
}
interface Koffi {
  readonly load: (library: string | null) => Library
}

/** The machine, and what finds koffi on it. */
export interface Machine {
  readonly platform: string
  readonly arch: string
  readonly koffi: () => Koffi
}

/** Of Linux, from its generic headers: the same on x64 and arm64. */
const SOCK_DGRAM = 2
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const SOL_SOCKET = 1
const SO_REUSEADDR = 2
const IPPROTO_IPV6 = 41
const IPV6_V6ONLY = 26
const MSG_DONTWAIT = 0x40

/** Machines that these constants and the layout of `SocketName` hold for. */
const architectures = ["x64", "arm64"]

export type Libc = ReturnType<typeof calls>

/** Not there: why, and whether it should be, since this is a machine that koffi has a binary for. */
export interface Unavailable {
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
 * This file is all that passes anything to native code. Memory crosses as typed arrays only, which the engine keeps where
 * they are while a call lasts; no pointer is kept on either side, and no length is longer than its array.
 */
export const load = ({ arch, koffi, platform } = on): Libc | Unavailable => {
  if (platform !== "linux" || !architectures.includes(arch))
    return { type: "unavailable", why: `no kernel calls on ${platform} ${arch}`, isFault: false }
  try {
    // What Node itself is linked with, be it glibc or musl.
    return calls(koffi().load(null))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { type: "unavailable", why: `koffi did not load: ${why.split("\n")[0]}`, isFault: true }
  }
}

const calls = (library: Library) => {
  const socket = library.func("int socket(int, int, int)")
  const bind = library.func("int bind(int, const void *, uint32_t)")
  const setsockopt = library.func("int setsockopt(int, int, int, const void *, uint32_t)")
  const sendto = library.func("int64_t sendto(int, const void *, size_t, int, const void *, uint32_t)")
  const close = library.func("int close(int)")
  const ifNametoindex = library.func("uint32_t if_nametoindex(const char *)")

  const option = (descriptor: number, level: number, name: number, value: number): boolean =>
    setsockopt(descriptor, level, name, new Int32Array([value]), 4) === 0

  return {
    type: "loaded" as const,
    /** A UDP socket that is bound to this name; null: the kernel refuses it. On `::` it takes IPv4 too. */
    open: (name: SocketName.SocketName): number | null => {
      const family = SocketName.family(name)
      const descriptor = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      if (typeof descriptor !== "number" || descriptor < 0) return null
      const isReady = family === SocketName.AF_INET || option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0)
      if (isReady && bind(descriptor, name, name.length) === 0) return descriptor
      close(descriptor)
      return null
    },
    /** Refuses the port of this socket to others, whatever they allow. */
    holdAlone: (descriptor: number): boolean => option(descriptor, SOL_SOCKET, SO_REUSEADDR, 0),
    /**
     * Sends the first `length` octets; when it returns, the kernel has them or never will. False: they were not sent.
     * Never waits: what a full buffer of the socket has no room for is not sent.
     */
    send: (descriptor: number, bytes: Uint8Array, length: number, to: SocketName.SocketName): boolean =>
      descriptor >= 0 &&
      length >>> 0 === length &&
      length <= bytes.length &&
      sendto(descriptor, bytes, length, MSG_DONTWAIT, to, to.length) === length,
    close: (descriptor: number): void => void close(descriptor),
    /** The number of a network interface; 0: there is none of this name. */
    interfaceOf: (name: string): number => Number(ifNametoindex(name))
  }
}
