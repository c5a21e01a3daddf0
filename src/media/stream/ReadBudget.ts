import * as TokenBucket from "../../domain/fair/TokenBucket.ts"
import type { TenantId } from "../../domain/Id.ts"

interface Allowance {
  readonly octets: number
  readonly octetsPerSecond: number
  readonly frames: number
  readonly framesPerSecond: number
}

/**
 * How much a stream's server may send, at once and each second. A message is a frame or several; pings and parts of the
 * handshake count as frames, and a few frames are read at a time. Anything beyond is read later, so that a flood takes
 * no more of the thread than its share. Ordinary speech is far below the limit, and a minute of it is read at once.
 */
export const limits = {
  octets: 8 * 1024 * 1024,
  octetsPerSecond: 1024 * 1024,
  frames: 5000,
  framesPerSecond: 1000,
  /** The most malformed messages in a row: a server that sends more speaks another protocol. */
  faults: 100
}

/** This much is read of each stream, whatever others send: a little more than speech in real time. */
export const ordinary: Allowance = {
  octets: 256 * 1024,
  octetsPerSecond: 96 * 1024,
  frames: 100,
  framesPerSecond: 60
}

/** This much is read beyond that, of all streams of a tenant in a thread together. */
export const ofTenant: Allowance = {
  octets: 16 * 1024 * 1024,
  octetsPerSecond: 2 * 1024 * 1024,
  frames: 5000,
  framesPerSecond: 2000
}

/**
 * The frames and octets that are left. They are counted when they are read, so they may be more than is left. What is
 * left grows only with `fill`, which sets the time. Times are milliseconds of any steady clock.
 */
const allowance = (of: Allowance, startedAt: number) => {
  const frames = TokenBucket.make({ burst: of.frames, everyMs: 1_000 / of.framesPerSecond })
  const octets = TokenBucket.make({ burst: of.octets, everyMs: 1_000 / of.octetsPerSecond })
  let at = startedAt
  return {
    take: (size: number, count: number): void => {
      frames.charge(count, at)
      octets.charge(size, at)
    },
    isLeft: (): boolean => frames.isLeft(at) && octets.isLeft(at),
    fill: (now: number): void => {
      at = now
    }
  }
}

/** The remaining allowances of the tenants of a thread. Mutable. */
export interface Tenants {
  readonly enter: (tenant: TenantId, now: number) => ReturnType<typeof allowance>
  readonly leave: (tenant: TenantId) => void
}

export const tenants = (): Tenants => {
  const known = new Map<TenantId, { readonly left: ReturnType<typeof allowance>; streams: number }>()
  return {
    enter: (tenant, now) => {
      const entry = known.get(tenant) ?? { left: allowance(ofTenant, now), streams: 0 }
      entry.streams++
      known.set(tenant, entry)
      return entry.left
    },
    leave: (tenant) => {
      const entry = known.get(tenant)
      if (entry !== undefined && --entry.streams === 0) known.delete(tenant)
    }
  }
}

export type ReadBudget = ReturnType<typeof make>

/** The budget of one stream, until `leave`. */
export const make = (shared: Tenants, tenant: TenantId, startedAt: number) => {
  const most = allowance(limits, startedAt)
  const own = allowance(ordinary, startedAt)
  const common = shared.enter(tenant, startedAt)
  const isLeft = (): boolean => most.isLeft() && (own.isLeft() || common.isLeft())
  return {
    /** Counts octets and frames that are read; false: read no more for now. */
    take: (size: number, frames: number): boolean => {
      most.take(size, frames)
      if (own.isLeft()) own.take(size, frames)
      else common.take(size, frames)
      return isLeft()
    },
    /** Whether enough is left again to resume reading. */
    mayRead: (now: number): boolean => {
      for (const each of [most, own, common]) each.fill(now)
      return isLeft()
    },
    leave: (): void => shared.leave(tenant)
  }
}
