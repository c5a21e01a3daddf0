import type { FarEnd } from "./FarEnd.ts"
import * as Frame from "./Frame.ts"
import * as LocalBridge from "./LocalBridge.ts"
import * as LocalLeg from "./LocalLeg.ts"
import { failureOf } from "./message/MediaMessage.ts"
import type { PacketPort } from "./PacketPort.ts"
import { type Command, type Event, isOpening, type LegEvent, type LegId, type Opening } from "./Protocol.ts"
import * as RtpLeg from "./RtpLeg.ts"
import * as SimulatedPhone from "./SimulatedPhone.ts"

export interface Options {
  readonly ports: PacketPort
  readonly emit: (event: Event) => void
  /** Uniform unsigned 32 bits. */
  readonly random: () => number
  /** The monotonic clock, which is that of `tick` and `handle` too. Milliseconds. */
  readonly clock: () => number
  /** Epoch milliseconds, for sender reports. */
  readonly wallClock: () => number
  /** Silence of a peer after which the leg is told `lost`; 0: never. */
  readonly mediaTimeoutMs: number
  /** Legs at once; the next is refused. */
  readonly maxLegs: number
  /** Hears of a fault of ours, which ended one leg. */
  readonly onDefect: (error: unknown) => void
}

interface Leg {
  readonly id: LegId
  readonly local: LocalLeg.LocalLeg
  readonly far: FarEnd
  readonly rtp: RtpLeg.RtpLeg | null
  readonly slot: number
  closed: boolean
}

/** Behind by more than this, frames are skipped instead of being sent in a burst. */
const catchUpMs = 100

/** Of two joined legs, which have no codec. */
const joinedRate = 8000

export type Switch = ReturnType<typeof make>

/**
 * The switch of 20 ms frames: all legs of one thread, driven by its owner's clock.
 *
 * Each leg has one of twenty slots of a millisecond, the emptiest when it came, so that legs are spread over the 20 ms.
 * `tick(now)` runs every slot that is due; the owner calls it again at `nextDue`. A leg is served once every 20 ms, up to
 * 100 ms late; what is later is skipped, and the timestamps go on as if it had been silent.
 */
export const make = (options: Options) => {
  const { clock, emit, ports } = options
  const legs = new Map<LegId, Leg>()
  const bridges = new Map<LegId, { readonly bridge: LocalBridge.LocalBridge; readonly peer: LegId }>()
  const slots: ReadonlyArray<Set<Leg>> = Array.from({ length: Frame.frameMs }, () => new Set<Leg>())
  /** The last millisecond whose slot was run. */
  let cursor = 0
  let skippedFrames = 0

  const slotOf = (ms: number): Set<Leg> => slots[ms % Frame.frameMs] ?? new Set()

  const emptiestSlot = (): number => {
    let best = 0
    slots.forEach((slot, i) => {
      if (slot.size < (slots[best]?.size ?? 0)) best = i
    })
    return best
  }

  const refuse = (leg: LegId, reason: "no_ports" | "too_many_legs" | "leg_exists") =>
    emit({ type: "refused", leg, reason })

  const add = (
    id: LegId,
    now: number,
    far: FarEnd,
    rtp: RtpLeg.RtpLeg | null,
    tell: (event: LegEvent) => void
  ): Leg => {
    if (legs.size === 0) cursor = Math.floor(now)
    const leg: Leg = {
      id,
      local: LocalLeg.make(far, (event) => tell({ type: "media", event })),
      far,
      rtp,
      slot: emptiestSlot(),
      closed: false
    }
    legs.set(id, leg)
    slots[leg.slot]?.add(leg)
    return leg
  }

  const remove = (leg: Leg, now: number) => {
    if (leg.closed) return
    leg.closed = true
    legs.delete(leg.id)
    bridges.delete(leg.id)
    slots[leg.slot]?.delete(leg)
    leg.local.close(now)
  }

  /** A fault of ours ends the leg it happened on and touches no other. */
  const guard = (leg: Leg, work: () => void): void => {
    try {
      work()
    } catch (error) {
      options.onDefect(error)
      tellerOf(leg.id)({ type: "lost", reason: "plane_stopped" })
      try {
        remove(leg, clock())
      } catch (second) {
        options.onDefect(second)
      }
    }
  }

  const tellerOf = (leg: LegId) => (event: LegEvent) => emit({ leg, ...event })
  const digitsOf = (tell: (event: LegEvent) => void) => (digit: string) =>
    tell({ type: "media", event: { type: "dtmf", digit, at: clock() } })

  const openRtp = (id: LegId, now: number) => {
    const tell = tellerOf(id)
    const { mediaTimeoutMs, random, wallClock } = options
    const rtp = RtpLeg.make({ random, clock, wallClock, mediaTimeoutMs, emit: tell })
    const leg = add(id, now, rtp.far, rtp, tell)
    ports.open(
      (channel, bytes, from) => {
        if (!leg.closed) guard(leg, () => rtp.receive(channel, bytes, from, clock()))
      },
      (socket) => {
        if (leg.closed) return socket?.close()
        if (socket === null) {
          remove(leg, clock())
          return refuse(id, "no_ports")
        }
        rtp.attach(socket)
        emit({ type: "opened", leg: id, port: socket.port })
      }
    )
  }

  const openPhone = (id: LegId, script: SimulatedPhone.PhoneScript, now: number) => {
    const tell = tellerOf(id)
    const phone = SimulatedPhone.make(script, digitsOf(tell))
    add(id, now, phone, null, tell)
    emit({ type: "opened", leg: id, port: 0 })
  }

  const openJoined = (id: LegId, peer: LegId, now: number) => {
    const tell = tellerOf(id)
    const bridge = LocalBridge.make(joinedRate, digitsOf(tell))
    add(id, now, bridge, null, tell)
    bridges.set(id, { bridge, peer })
    const other = bridges.get(peer)
    if (other?.peer === id && peer !== id) bridge.join(other.bridge)
    emit({ type: "opened", leg: id, port: 0 })
  }

  /** What a command gets whose leg is not here. */
  const answerUnknown = (command: Command) => {
    const failure = command.type === "media" ? failureOf(command.media, "unknown_leg") : null
    if (failure !== null) emit({ type: "media", leg: command.leg, event: failure })
    if (command.type === "close") emit({ type: "closed", leg: command.leg })
  }

  const open = (command: Opening, now: number) => {
    if (legs.has(command.leg)) return refuse(command.leg, "leg_exists")
    if (legs.size >= options.maxLegs) return refuse(command.leg, "too_many_legs")
    switch (command.type) {
      case "open_rtp":
        return openRtp(command.leg, now)
      case "open_phone":
        return openPhone(command.leg, command.script, now)
      case "open_joined":
        return openJoined(command.leg, command.peer, now)
    }
  }

  const handle = (command: Command, now: number): void => {
    if (isOpening(command)) return open(command, now)
    const leg = legs.get(command.leg)
    if (leg === undefined) return answerUnknown(command)
    const { local } = leg
    switch (command.type) {
      case "connect_rtp":
        return leg.rtp?.connect(command.remote, now)
      case "media":
        return local.command(command.media)
      case "supply":
        return local.player.supply(command.id, command.sound)
      case "supply_failed":
        return local.player.fail(command.id, command.reason)
      case "close":
        remove(leg, now)
        emit({ type: "closed", leg: command.leg })
    }
  }

  const skip = (now: number) => {
    const frames = Math.floor((now - cursor) / Frame.frameMs)
    cursor += frames * Frame.frameMs
    skippedFrames += frames
    for (const leg of legs.values()) leg.far.skip(frames)
  }

  return {
    handle,
    /** Runs what is due at `now`. */
    tick: (now: number): void => {
      if (legs.size === 0) return
      if (now - cursor > catchUpMs) skip(now)
      while (cursor + 1 <= now) {
        cursor++
        for (const leg of slotOf(cursor)) guard(leg, () => leg.local.tick(cursor))
      }
    },
    /** When `tick` has something to do again; `null` without legs. */
    nextDue: (): number | null => {
      if (legs.size === 0) return null
      for (let ms = cursor + 1; ms <= cursor + Frame.frameMs; ms++) if (slotOf(ms).size > 0) return ms
      return null
    },
    /** Ends every leg. */
    close: (now: number): void => {
      for (const leg of legs.values()) {
        remove(leg, now)
        emit({ type: "closed", leg: leg.id })
      }
    },
    size: (): number => legs.size,
    skippedFrames: (): number => skippedFrames,
    /** What was dropped on a leg, by reason; `null` for one that is not here or no RTP leg. */
    countersOf: (leg: LegId) => legs.get(leg)?.rtp?.counters() ?? null
  }
}
