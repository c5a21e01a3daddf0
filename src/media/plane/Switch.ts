import type { Country } from "../../protocol/audio/RingbackTone.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Bridge from "../mix/Bridge.ts"
import type { FarEnd, OnDigit } from "../FarEnd.ts"
import * as LocalBridge from "../mix/LocalBridge.ts"
import * as LocalLeg from "./LocalLeg.ts"
import { failureOf } from "../../ports/media/MediaMessage.ts"
import type { PacketPort } from "../rtp/PacketPort.ts"
import {
  type BridgeRefusal,
  type Command,
  type Event,
  isOpening,
  type LegEvent,
  type LegId,
  type Opening
} from "./Protocol.ts"
import * as RestingPairs from "./RestingPairs.ts"
import * as RoomMixers from "../room/RoomMixers.ts"
import * as RtpLeg from "../rtp/RtpLeg.ts"
import * as SimulatedPhone from "../SimulatedPhone.ts"
import * as Slots from "./Slots.ts"
import type { Common } from "../stream/dialect/Common.ts"

export interface Options {
  readonly ports: PacketPort
  readonly emit: (event: Event) => void
  /** Returns 32 bits, uniformly distributed and unsigned. */
  readonly random: () => number
  /** The monotonic clock in milliseconds, which `tick` and `handle` use too. */
  readonly clock: () => number
  /** The CPU time of this thread in milliseconds; absent: as `clock`. */
  readonly cpuClock?: () => number
  /** Epoch milliseconds, for sender reports. */
  readonly wallClock: () => number
  /** How long a peer may be silent until its leg is reported as `lost`; 0: for ever. */
  readonly mediaTimeoutMs: number
  /** The most legs at once; further ones are refused. */
  readonly maxLegs: number
  /** Makes the phone at the far end of a leg. Absent, or when it returns null: the phone follows its script. */
  readonly phoneOf?: (leg: LegId, script: SimulatedPhone.PhoneScript, onDigit: OnDigit) => FarEnd | null
  /** The country of the ring-back tone; default: the United States. */
  readonly ringback?: Country
  /** The state that the streams of all legs share. */
  readonly streams: Common
  /** Takes every internal error. It ended one leg at most. */
  readonly onDefect: (error: unknown) => void
  /** Called when a packet has made `nextDue` earlier. */
  readonly onDue?: () => void
}

interface Pair extends RestingPairs.Pair {
  readonly bridge: Bridge.Bridge
}

interface Leg {
  readonly id: LegId
  readonly local: LocalLeg.LocalLeg
  readonly rtp: RtpLeg.RtpLeg | null
  readonly turn: Slots.Ticked
  /** Its bridge with another leg, also after that has ended. */
  pair: Pair | null
  closed: boolean
}

/** The rate of joined legs, which have no codec. Phones and most codecs are no wider. */
const joinedRate: SampleRate = 16_000

/** All legs of one thread and their connections, controlled by commands and driven by the owner's clock. */
export const make = (options: Options) => {
  const { clock, cpuClock = clock, emit, onDefect, ports } = options
  const legs = new Map<LegId, Leg>()
  const joints = new Map<LegId, { readonly end: LocalBridge.LocalBridge; readonly peer: LegId }>()
  const slots = Slots.make()
  const resting = RestingPairs.make(slots)
  const faultOf = (local: LocalLeg.LocalLeg, error: unknown): void => {
    for (const leg of legs.values()) if (leg.local === local) return fault(leg, error)
  }
  const rooms = RoomMixers.make({ slots, emit, clock, cpuClock, onDefect, onFault: faultOf })
  /** The gaps in the playbacks of closed legs. */
  let pastGaps = 0

  const refuse = (leg: LegId, reason: "no_ports" | "too_many_legs" | "leg_exists") =>
    emit({ type: "refused", leg, reason })

  /** Gives a leg its turns again because of a command, and the leg that it is bridged with too. */
  const rouse = ({ pair }: Leg): void => {
    if (pair !== null) resting.rouse(pair, clock())
  }

  /** Gives a leg its turns again because of a packet, which comes between two turns. */
  const needTurns = (leg: Leg): void => {
    if (leg.pair === null || !resting.has(leg.pair)) return
    rouse(leg)
    options.onDue?.()
  }

  const remove = (leg: Leg, now: number) => {
    if (leg.closed) return
    rouse(leg)
    leg.closed = true
    legs.delete(leg.id)
    joints.delete(leg.id)
    slots.remove(leg.turn)
    pastGaps += leg.local.player.gaps()
    leg.local.close(now)
  }

  /** An internal error ends the leg it happened on and touches no other. */
  const fault = (leg: Leg, error: unknown): void => {
    onDefect(error)
    if (leg.closed) return
    emit({ leg: leg.id, type: "lost", reason: "plane_stopped" })
    try {
      remove(leg, clock())
    } catch (second) {
      onDefect(second)
    }
  }

  const add = (id: LegId, now: number, far: FarEnd, rtp: RtpLeg.RtpLeg | null): Leg => {
    const local = LocalLeg.make(far, {
      clock,
      cpuClock,
      ...(options.ringback === undefined ? {} : { country: options.ringback }),
      onDefect,
      onFault: (error) => fault(leg, error),
      emit: (event) => emit({ leg: id, type: "media", event }),
      captured: (event) => emit({ leg: id, ...event }),
      streams: options.streams,
      ask: (ask) => emit({ leg: id, ...ask }),
      want: ({ id: work, sound }, rate) => emit({ leg: id, type: "wanted", id: work, sound, rate }),
      unwant: (work) => emit({ leg: id, type: "unwanted", id: work })
    })
    const turn: Slots.Ticked = {
      tick: (at) => {
        try {
          local.tick(at)
          if (leg.pair !== null) resting.settle(leg.pair, at)
        } catch (error) {
          fault(leg, error)
        }
      },
      skip: local.skip
    }
    const leg: Leg = { id, local, rtp, turn, pair: null, closed: false }
    legs.set(id, leg)
    slots.add(turn, now)
    return leg
  }

  /** Passes digits to the leg of a far end, which is made before its leg. */
  const digitsOf =
    (id: LegId): OnDigit =>
    (digit, isPassedOn) => {
      const leg = legs.get(id)
      if (leg === undefined) return true
      const isNew = leg.local.digit(digit, clock(), isPassedOn)
      needTurns(leg)
      return isNew
    }

  const openRtp = (id: LegId, now: number) => {
    const { mediaTimeoutMs, random, wallClock } = options
    const tell = (event: LegEvent) => emit({ leg: id, ...event })
    const onHeld = (at: number) => legs.get(id)?.local.held(at)
    const rtp = RtpLeg.make({ random, wallClock, mediaTimeoutMs, emit: tell, onDigit: digitsOf(id), onHeld })
    const leg = add(id, now, rtp.far, rtp)
    ports.open(
      (channel, bytes, from) => {
        if (leg.closed) return
        try {
          const now = clock()
          if (channel === "rtp" && rtp.passesOn(bytes, from, now)) return
          rtp.receive(channel, bytes, from, now)
          // A peer that changed to another format is heard in frames.
          if (rtp.far.packetFormat() === null) needTurns(leg)
        } catch (error) {
          fault(leg, error)
        }
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
    const far = options.phoneOf?.(id, script, digitsOf(id)) ?? SimulatedPhone.make(script, digitsOf(id))
    add(id, now, far, null)
    emit({ type: "opened", leg: id, port: 0 })
  }

  const openJoined = (id: LegId, peer: LegId, now: number) => {
    const end = LocalBridge.make(joinedRate, digitsOf(id))
    add(id, now, end, null)
    joints.set(id, { end, peer })
    const other = joints.get(peer)
    if (other?.peer === id && peer !== id) end.join(other.end)
    emit({ type: "opened", leg: id, port: 0 })
  }

  const memberOf = (leg: Leg) => ({
    turn: leg.turn,
    attend: (now: number): number | null => {
      try {
        return leg.local.far.attend(now)
      } catch (error) {
        fault(leg, error)
        return null
      }
    }
  })

  const bridge = (leg: Leg, peer: LegId): void => {
    const other = legs.get(peer)
    const reason: BridgeRefusal | null =
      other === undefined
        ? "unknown_leg"
        : other === leg
          ? "same_leg"
          : leg.local.isJoined() || other.local.isJoined()
            ? "already_joined"
            : null
    if (other === undefined || reason !== null)
      return emit({ type: "bridge_refused", leg: leg.id, reason: reason ?? "unknown_leg" })
    const made = Bridge.make(leg.local, other.local)
    const pair: Pair = {
      bridge: made,
      members: [memberOf(leg), memberOf(other)],
      isAtRest: made.isAtRest,
      attendAt: 0
    }
    leg.pair = pair
    other.pair = pair
    emit({ type: "bridged", leg: leg.id })
  }

  /** Answers a command for an unknown leg. */
  const answerUnknown = (command: Command) => {
    const failure =
      command.type === "media" || command.type === "room_media" ? failureOf(command.media, "unknown_leg") : null
    if (failure !== null) emit({ type: "media", leg: command.leg, event: failure })
    if (command.type === "capture")
      emit({ type: "capture_ended", leg: command.leg, id: command.id, reason: "unknown_leg" })
    if (command.type === "bridge" || command.type === "enter_room")
      emit({ type: "bridge_refused", leg: command.leg, reason: "unknown_leg" })
    if (command.type === "press") emit({ type: "press_taken", leg: command.leg, isNew: true })
    if (command.type === "close") emit({ type: "closed", leg: command.leg })
  }

  const open = (command: Opening, now: number) => {
    if (legs.has(command.leg) || rooms.has(command.leg)) return refuse(command.leg, "leg_exists")
    if (legs.size + rooms.size() >= options.maxLegs) return refuse(command.leg, "too_many_legs")
    switch (command.type) {
      case "open_rtp":
        return openRtp(command.leg, now)
      case "open_phone":
        return openPhone(command.leg, command.script, now)
      case "open_joined":
        return openJoined(command.leg, command.peer, now)
      case "open_room":
        return rooms.open(command.leg, now)
    }
  }

  const enter = (leg: Leg, { room, entry }: Extract<Command, { readonly type: "enter_room" }>, now: number): void => {
    const reason = rooms.enter(room, leg.local, entry, now)
    emit(reason === null ? { type: "bridged", leg: leg.id } : { type: "bridge_refused", leg: leg.id, reason })
  }

  const carryOut = (command: Exclude<Command, Opening>, leg: Leg, now: number): void => {
    const { local } = leg
    switch (command.type) {
      case "connect_rtp":
        return leg.rtp?.connect(command.remote, now)
      case "media":
        return local.command(command.media)
      case "supply":
        return local.player.supply(command.id, command.sound, command.isLast)
      case "supply_failed":
        return local.player.fail(command.id, command.reason)
      case "bridge":
        return bridge(leg, command.peer)
      case "unbridge":
        return leg.pair?.bridge.end(now)
      case "enter_room":
        return enter(leg, command, now)
      case "leave_room":
        return rooms.leave(local, now)
      // These are for rooms.
      case "change_member":
      case "room_beep":
        return
      case "room_media":
        return answerUnknown(command)
      case "press":
        return emit({ type: "press_taken", leg: command.leg, isNew: local.signalled(command.digit, now) })
      case "capture":
      case "capture_taken":
      case "capture_silence":
      case "capture_stop":
        return local.captures.command(command)
      case "stream_reached":
      case "stream_unreachable":
      case "stream_sound":
      case "stream_sound_failed":
        return local.stream.answer(command)
      case "close":
        remove(leg, now)
        emit({ type: "closed", leg: command.leg })
    }
  }

  return {
    handle: (command: Command, now: number): void => {
      if (isOpening(command)) return open(command, now)
      if (rooms.has(command.leg)) return rooms.handle(command.leg, command)
      const leg = legs.get(command.leg)
      if (leg === undefined) return answerUnknown(command)
      rouse(leg)
      try {
        carryOut(command, leg, now)
      } catch (error) {
        fault(leg, error)
      }
    },
    /** Runs the turns that are due at `now`; the owner calls it again at `nextDue`. */
    tick: (now: number): void => {
      resting.tick(now)
      slots.tick(now)
    },
    /** `null` when nothing will be due. */
    nextDue: (): number | null => {
      const [turns, rest] = [slots.nextDue(), resting.nextDue()]
      return turns === null || rest === null ? (turns ?? rest) : Math.min(turns, rest)
    },
    close: (now: number): void => {
      rooms.close()
      for (const leg of legs.values()) {
        remove(leg, now)
        emit({ type: "closed", leg: leg.id })
      }
    },
    size: (): number => legs.size + rooms.size(),
    skippedFrames: slots.skippedFrames,
    /** Frames in which a playback waited for its next piece. */
    playbackGaps: (): number =>
      [...legs.values()].reduce((sum, { local }) => sum + local.player.gaps(), pastGaps + rooms.playbackGaps()),
    /** Whether the leg is bridged so that packets could pass without being decoded. */
    couldForward: (leg: LegId): boolean => legs.get(leg)?.pair?.bridge.couldForward() ?? false,
    /** The dropped packets of a leg, by reason; `null` if the leg is unknown or not over RTP. */
    countersOf: (leg: LegId) => legs.get(leg)?.rtp?.counters() ?? null
  }
}
