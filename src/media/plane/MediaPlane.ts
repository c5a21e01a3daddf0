import { Context, type Effect, Schema, type Scope } from "effect"
import type * as IpAddress from "../../domain/network/IpAddress.ts"
import type { MemberId, TenantId, WorkId } from "../../domain/Id.ts"
import type { Wanted } from "../capture/Capture.ts"
import type * as Captures from "../capture/Captures.ts"
import type { Attended, MediaCommand, MediaEvent } from "../../ports/media/MediaMessage.ts"
import type * as Placement from "./Placement.ts"
import type * as Protocol from "./Protocol.ts"
import type { Seat, SeatChange } from "../room/Seat.ts"
import type { PhoneScript } from "../SimulatedPhone.ts"

export type { LegId, Loss, PlaybackFailure, Quality, RtpRemote } from "./Protocol.ts"
export type { Seat, SeatChange } from "../room/Seat.ts"
export type { PhoneScript } from "../SimulatedPhone.ts"

/** The plane has no room for another leg, or the leg is there already; trying again later may help. */
export class MediaUnavailable extends Schema.TaggedError<MediaUnavailable>()("MediaUnavailable", {
  reason: Schema.Literals(["no_ports", "too_many_legs", "leg_exists", "plane_stopped"])
}) {
  override get message() {
    return `no media: ${this.reason}`
  }
}

/** Two legs cannot be bridged, or a leg cannot enter a room: one is not open, is bridged already, or they are in places that cannot meet. */
export class BridgeRefused extends Schema.TaggedError<BridgeRefused>()("BridgeRefused", {
  reason: Schema.Literals([
    "unknown_leg",
    "same_leg",
    "already_joined",
    "other_gateway",
    "other_thread",
    "plane_stopped"
  ])
}) {
  override get message() {
    return `not bridged: ${this.reason}`
  }
}

/** Where a leg receives: an even port for RTP, the next for RTCP, at the address of each family that we speak. */
export interface RtpPlace {
  readonly addresses: IpAddress.Addresses
  readonly port: number
  readonly placement: Placement.Placement
}

/** Hears of a leg. Its functions must not throw; they are called from the event loop, outside any fiber. */
export interface Listener {
  /** An event for the call. */
  readonly told: (event: MediaEvent) => void
  /** The leg cannot go on. */
  readonly lost: (reason: Protocol.Loss) => void
  /** Of a room: a member begins to speak, or is silent again. Who is muted, held, or leaves is silent. */
  readonly spoke?: (memberId: MemberId, isSpeaking: boolean) => void
  readonly measured?: (quality: Protocol.Quality) => void
  /** The leg is gone: the last that is told. `quality` is what was measured last; null: nothing was. */
  readonly closed?: (quality: Protocol.Quality | null) => void
}

/**
 * The media plane: every leg of a call has one place here, from `open…` until `close`.
 *
 * Commands are handed over and return at once, their outcome is an event. What is told a leg that is not open is
 * answered by an event that says so (`failed`, `unknown_leg`), or by nothing where there is nothing to answer.
 */
export class MediaPlane extends Context.Service<
  MediaPlane,
  {
    /** The addresses that peers are told. */
    readonly addresses: IpAddress.Addresses
    /**
     * Reserves a pair of ports for a leg of this tenant and tells the addresses to announce; nothing is sent until `connectRtp`.
     *
     * `near` is a leg that this one is going to be bridged with: they are placed where they can meet.
     */
    readonly openRtp: (
      leg: Protocol.LegId,
      tenant: TenantId,
      near?: Protocol.LegId
    ) => Effect.Effect<RtpPlace, MediaUnavailable>
    /**
     * Points the leg at its peer, again after a re-INVITE. Symmetric RTP: what the peer really sends from is learned
     * from its packets (`SourceLatch` has the rule).
     */
    readonly connectRtp: (leg: Protocol.LegId, remote: Protocol.RtpRemote) => Effect.Effect<void>
    /** Joins a leg to a simulated phone, which begins its script at once. */
    readonly openPhone: (
      leg: Protocol.LegId,
      tenant: TenantId,
      script: PhoneScript,
      near?: Protocol.LegId
    ) => Effect.Effect<void, MediaUnavailable>
    /**
     * Joins two legs of this process: what is said to one is heard on the other, digits included. Each is opened with
     * the other as its `peer`, in any order; until both are open, and once one is closed, there is silence, and
     * playback waits. The first one is placed `near` a third leg.
     */
    readonly openJoined: (
      leg: Protocol.LegId,
      tenant: TenantId,
      peer: Protocol.LegId,
      near?: Protocol.LegId
    ) => Effect.Effect<void, MediaUnavailable>
    /**
     * Lets each of two open legs hear what the other says, digits included, until `unbridge` or the end of one of them.
     * Both have to be in one place (`openRtp` with `near`). What is asked of a leg is done in order.
     */
    readonly bridge: (leg: Protocol.LegId, peer: Protocol.LegId) => Effect.Effect<void, BridgeRefused>
    /** Ends the bridge of a leg, if it has one. */
    readonly unbridge: (leg: Protocol.LegId) => Effect.Effect<void>
    /**
     * A room (`media/room/`): a leg without a far end, placed where `near` is. It is closed as a leg is, which lets its
     * members go, and told and captured as one: `inbound` is what the host says, `outbound` what all others say and what
     * is played to all.
     */
    readonly openRoom: (
      room: Protocol.LegId,
      tenant: TenantId,
      near: Protocol.LegId
    ) => Effect.Effect<void, MediaUnavailable>
    /** Joins an open leg to a room, until `leaveRoom` or the end of one of them. A leg is in one room or bridge at a time. */
    readonly enterRoom: (leg: Protocol.LegId, room: Protocol.LegId, seat: Seat) => Effect.Effect<void, BridgeRefused>
    /** Lets a leg go from its room, if it is in one. */
    readonly leaveRoom: (leg: Protocol.LegId) => Effect.Effect<void>
    /** Who is not there is passed over; so it is with targets, for as long as they are not there. */
    readonly setSeat: (room: Protocol.LegId, memberId: MemberId, change: SeatChange) => Effect.Effect<void>
    /** A short tone for all members but `except` and those on hold. While one sounds, another is not begun. */
    readonly beep: (room: Protocol.LegId, except: MemberId | null) => Effect.Effect<void>
    /**
     * Carries out a command of the call, which is this tenant's. What a room plays is heard by all members who are not on
     * hold; with `to`, by those alone, also on hold.
     */
    readonly command: (
      leg: Protocol.LegId,
      tenant: TenantId,
      media: MediaCommand,
      to?: ReadonlyArray<MemberId>
    ) => Effect.Effect<void>
    /**
     * Hands what is said and heard on a leg out of the media thread, chunk by chunk, until it is stopped, its leg is
     * closed, or its receiver is too slow. Whoever asks chooses the id, which nobody has used on this leg.
     */
    readonly capture: (
      leg: Protocol.LegId,
      id: WorkId,
      wanted: Wanted,
      receiver: Captures.Receiver
    ) => Effect.Effect<Captures.Captured>
    /**
     * From now on, until the scope closes, `attendant` carries out the commands of these types. Without one they end as
     * `failed`, `unsupported`.
     */
    readonly attend: (
      types: ReadonlyArray<Attended["type"]>,
      attendant: Attendant
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Ends the leg and frees its ports. What still waits on it ends as `stopped` or `closed` first. */
    readonly close: (leg: Protocol.LegId) => Effect.Effect<void>
    /**
     * Everything that is told of a leg, in order, until it is closed or its opening is refused; one listener a leg, a
     * second replaces the first.
     * May be called before the leg is opened.
     */
    readonly subscribe: (leg: Protocol.LegId, listener: Listener) => Effect.Effect<void>
  }
>()("trunkline/media/MediaPlane") {}

/** Carries out a command outside of the media thread; it must neither throw nor wait. */
export type Attendant = (leg: Protocol.LegId, tenant: TenantId, media: Attended) => void
