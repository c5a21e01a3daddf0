import { Context, type Effect, Schema, type Scope } from "effect"
import type * as IpAddress from "../../domain/network/IpAddress.ts"
import type { MemberId, TenantId, WorkId } from "../../domain/Id.ts"
import type { Wanted } from "../capture/Capture.ts"
import type * as Captures from "../capture/Captures.ts"
import type { Attended, MediaCommand, MediaEvent } from "../../ports/media/MediaMessage.ts"
import type * as Placement from "./Placement.ts"
import type * as Protocol from "./Protocol.ts"
import type { Entry, MemberChange } from "../../ports/media/MemberChange.ts"
import type { PhoneScript } from "../SimulatedPhone.ts"

export type { Loss, Quality, RtpRemote } from "./Protocol.ts"
export type { PhoneScript } from "../SimulatedPhone.ts"

/** The plane has no room for another leg, or has the leg already. A later attempt may succeed. */
export class MediaUnavailable extends Schema.TaggedError<MediaUnavailable>()("MediaUnavailable", {
  reason: Schema.Literals(["no_ports", "too_many_legs", "leg_exists", "plane_stopped"])
}) {
  override get message() {
    return `no media: ${this.reason}`
  }
}

/**
 * Two legs cannot be bridged, or a leg cannot enter a room: one is not open, is bridged already, or they are in places
 * that cannot meet.
 */
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

/** The addresses that a leg receives at, one of each supported family: an even port for RTP, the next for RTCP. */
export interface RtpPlace {
  readonly addresses: IpAddress.Addresses
  readonly port: number
  readonly placement: Placement.Placement
}

/** Receives the events of a leg. Its functions must not throw; the event loop calls them outside any fiber. */
export interface Listener {
  /** An event for the call. */
  readonly told: (event: MediaEvent) => void
  /** The leg cannot continue. */
  readonly lost: (reason: Protocol.Loss) => void
  /** A member of a room begins to speak, or is silent again. A member that is muted, held, or leaves is silent. */
  readonly spoke?: (memberId: MemberId, isSpeaking: boolean) => void
  readonly measured?: (quality: Protocol.Quality) => void
  /** The leg is gone; this is the last event. `quality` is the last measurement; null: there was none. */
  readonly closed?: (quality: Protocol.Quality | null) => void
}

/**
 * The media plane: every leg of a call has one place here, from `open…` until `close`.
 *
 * Commands are queued and return at once; their outcome is an event. A command for a leg that is not open is answered
 * by an event (`failed`, `unknown_leg`), or ignored if it has no answer.
 */
export class MediaPlane extends Context.Service<
  MediaPlane,
  {
    /** The addresses that are announced to peers. */
    readonly addresses: IpAddress.Addresses
    /**
     * Reserves a pair of ports for a leg of this tenant and returns the addresses to announce. Nothing is sent until
     * `connectRtp`.
     *
     * `near` is a leg that this one is going to be bridged with: they are placed where they can meet.
     */
    readonly openRtp: (
      leg: Protocol.LegId,
      tenant: TenantId,
      near?: Protocol.LegId
    ) => Effect.Effect<RtpPlace, MediaUnavailable>
    /**
     * Points the leg at its peer, and again after a re-INVITE. Symmetric RTP: the actual source of the peer is learned
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
     * Joins two legs of this process: sound that is sent to one is heard on the other, digits included. Each is opened
     * with the other as its `peer`, in any order. Until both are open, and once one is closed, there is silence, and
     * playback waits. The first one is placed `near` a third leg.
     */
    readonly openJoined: (
      leg: Protocol.LegId,
      tenant: TenantId,
      peer: Protocol.LegId,
      near?: Protocol.LegId
    ) => Effect.Effect<void, MediaUnavailable>
    /**
     * Lets the far ends of two open legs hear each other, digits included, until `unbridge` or the end of one of the
     * legs. Both have to be in one place (`openRtp` with `near`). Commands for a leg are carried out in order.
     */
    readonly bridge: (leg: Protocol.LegId, peer: Protocol.LegId) => Effect.Effect<void, BridgeRefused>
    /** Ends the bridge of a leg, if it has one. */
    readonly unbridge: (leg: Protocol.LegId) => Effect.Effect<void>
    /**
     * Opens a room (`media/room/`): a leg without a far end, placed where `near` is. It is closed like a leg, which
     * releases its members, and takes commands and captures like one: `inbound` is the host, `outbound` all others and
     * the sounds that are played to all.
     */
    readonly openRoom: (
      room: Protocol.LegId,
      tenant: TenantId,
      near: Protocol.LegId
    ) => Effect.Effect<void, MediaUnavailable>
    /** Joins an open leg to a room, until `leaveRoom` or the end of either. A leg has one room or bridge at a time. */
    readonly enterRoom: (leg: Protocol.LegId, room: Protocol.LegId, entry: Entry) => Effect.Effect<void, BridgeRefused>
    /** Removes a leg from its room, if it is in one. */
    readonly leaveRoom: (leg: Protocol.LegId) => Effect.Effect<void>
    /** Changes a member; ignored if it is absent. Targets are ignored while they are absent. */
    readonly changeMember: (room: Protocol.LegId, memberId: MemberId, change: MemberChange) => Effect.Effect<void>
    /** Sounds a short tone for all members but `except` and those on hold; without effect while one sounds. */
    readonly beep: (room: Protocol.LegId, except: MemberId | null) => Effect.Effect<void>
    /**
     * Carries out a command of the call, which belongs to this tenant. All members of a room that are not on hold hear
     * its playbacks; with `to`, only the members in it do, also on hold.
     */
    readonly command: (
      leg: Protocol.LegId,
      tenant: TenantId,
      media: MediaCommand,
      to?: ReadonlyArray<MemberId>
    ) => Effect.Effect<void>
    /**
     * Captures the sound of a leg, both ways, and hands it out of the media thread chunk by chunk, until it is stopped,
     * its leg is closed, or its receiver is too slow. The caller chooses the id, which must be new on this leg.
     */
    readonly capture: (
      leg: Protocol.LegId,
      id: WorkId,
      wanted: Wanted,
      receiver: Captures.Receiver
    ) => Effect.Effect<Captures.Captured>
    /**
     * The far end of a leg pressed a digit, as its signalling says (SIP INFO). It acts as one in its packets does, but
     * is not reported by the listener: `taken` learns once whether it is new, or a press that the packets brought
     * within the last second. On a leg that is not open it is new. `taken` must not throw; the event loop calls it
     * outside any fiber, in order with the events of the leg.
     */
    readonly press: (leg: Protocol.LegId, digit: string, taken: (isNew: boolean) => void) => Effect.Effect<void>
    /** Lets `attendant` carry out these commands until the scope closes. Without one they fail as `unsupported`. */
    readonly attend: (
      types: ReadonlyArray<Attended["type"]>,
      attendant: Attendant
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Ends the leg and frees its ports. Waiting work on it ends as `stopped` or `closed` first. */
    readonly close: (leg: Protocol.LegId) => Effect.Effect<void>
    /**
     * Subscribes to every event of a leg, in order, until it is closed or its opening is refused. A leg has one
     * listener, and a second one replaces the first. May be called before the leg is opened.
     */
    readonly subscribe: (leg: Protocol.LegId, listener: Listener) => Effect.Effect<void>
  }
>()("trunkline/media/MediaPlane") {}

/** Carries out a command outside of the media thread; it must neither throw nor wait. */
export type Attendant = (leg: Protocol.LegId, tenant: TenantId, media: Attended) => void
