import { Context, Deferred, Effect, FiberSet, Schema, type Scope } from "effect"
import type * as AudioSource from "./AudioSource.ts"
import type { MediaCommand, MediaEvent } from "./message/MediaMessage.ts"
import type * as Protocol from "./Protocol.ts"
import type { PhoneScript } from "./SimulatedPhone.ts"

export type { LegId, Loss, PlaybackFailure, Quality, RtpRemote } from "./Protocol.ts"
export type { PhoneScript } from "./SimulatedPhone.ts"

/** The plane has no room for another leg, or the leg is there already; trying again later may help. */
export class MediaUnavailable extends Schema.TaggedError<MediaUnavailable>()("MediaUnavailable", {
  reason: Schema.Literals(["no_ports", "too_many_legs", "leg_exists", "plane_stopped"])
}) {
  override get message() {
    return `no media: ${this.reason}`
  }
}

/** Who hears of a leg. None may throw; they are called from the event loop, outside any fiber. */
export interface Listener {
  /** What the call is to hear. */
  readonly told: (event: MediaEvent) => void
  /** The leg cannot go on. */
  readonly lost: (reason: Protocol.Loss) => void
  readonly measured?: (quality: Protocol.Quality) => void
}

/**
 * The media plane: every leg of a call has one place here, from `open…` until `close`.
 *
 * Commands are handed over and return at once, their outcome is an event. What is told a leg that is not open is answered
 * by an event that says so (`failed`, `unknown_leg`), or by nothing where there is nothing to answer.
 */
export class MediaPlane extends Context.Service<
  MediaPlane,
  {
    /** Reserves a pair of ports for a leg and tells the address to announce; nothing is sent until `connectRtp`. */
    readonly openRtp: (
      leg: Protocol.LegId
    ) => Effect.Effect<{ readonly address: string; readonly port: number }, MediaUnavailable>
    /**
     * Points the leg at its peer, again after a re-INVITE. Symmetric RTP: what the peer really sends from is learned
     * from its packets (`SourceLatch` has the rule).
     */
    readonly connectRtp: (leg: Protocol.LegId, remote: Protocol.RtpRemote) => Effect.Effect<void>
    /** Joins a leg to a simulated phone, which begins its script at once. */
    readonly openPhone: (leg: Protocol.LegId, script: PhoneScript) => Effect.Effect<void, MediaUnavailable>
    /**
     * Joins two legs of this process: what is said to one is heard on the other, digits included. Each is opened with
     * the other as its `peer`, in any order; until both are open, and once one is closed, there is silence, and playback
     * waits.
     */
    readonly openJoined: (leg: Protocol.LegId, peer: Protocol.LegId) => Effect.Effect<void, MediaUnavailable>
    /** What the call asks of the leg. */
    readonly command: (leg: Protocol.LegId, media: MediaCommand) => Effect.Effect<void>
    /** Ends the leg and frees its ports. What still waits on it ends as `stopped` or `closed` first. */
    readonly close: (leg: Protocol.LegId) => Effect.Effect<void>
    /**
     * Everything that is told of a leg, in order, until it is closed; one listener a leg, a second replaces the first.
     * May be called before the leg is opened.
     */
    readonly subscribe: (leg: Protocol.LegId, listener: Listener) => Effect.Effect<void>
  }
>()("trunkline/media/MediaPlane") {}

/** The way to the switch: in this thread or another. */
export interface SwitchLink {
  readonly post: (command: Protocol.Command) => void
  /** Registers who hears; `down` means that the switch and all legs are gone, and that a new one takes commands. */
  readonly listen: (onEvent: (event: Protocol.Event) => void, onDown: () => void) => void
}

interface Leg {
  listener: Listener | null
  opening: Deferred.Deferred<number, MediaUnavailable> | null
  open: boolean
}

/** The face of the plane over a switch. `announce` is the address that peers are told. */
export const make = Effect.fnUntraced(function* (
  link: SwitchLink,
  sources: AudioSource.AudioSource["Service"],
  announce: string
): Effect.fn.Return<MediaPlane["Service"], never, Scope.Scope> {
  const legs = new Map<Protocol.LegId, Leg>()
  const run = yield* FiberSet.makeRuntime()

  const legOf = (id: Protocol.LegId): Leg => {
    const known = legs.get(id)
    if (known !== undefined) return known
    const leg: Leg = { listener: null, opening: null, open: false }
    legs.set(id, leg)
    return leg
  }

  const settle = (leg: Leg, outcome: Effect.Effect<number, MediaUnavailable>) => {
    if (leg.opening !== null) Deferred.doneUnsafe(leg.opening, outcome)
    leg.opening = null
  }

  const onEvent = (event: Protocol.Event): void => {
    const leg = legs.get(event.leg)
    if (leg === undefined) return
    switch (event.type) {
      case "opened":
        leg.open = true
        return settle(leg, Effect.succeed(event.port))
      case "refused":
        return settle(leg, Effect.fail(new MediaUnavailable({ reason: event.reason })))
      case "media":
        return leg.listener?.told(event.event)
      case "lost":
        return leg.listener?.lost(event.reason)
      case "quality":
        return leg.listener?.measured?.(event.quality)
      case "closed":
        legs.delete(event.leg)
        return settle(leg, Effect.fail(new MediaUnavailable({ reason: "plane_stopped" })))
    }
  }

  const onDown = (): void => {
    const lost = [...legs.values()]
    legs.clear()
    for (const leg of lost) {
      settle(leg, Effect.fail(new MediaUnavailable({ reason: "plane_stopped" })))
      if (leg.open) leg.listener?.lost("plane_stopped")
    }
  }
  link.listen(onEvent, onDown)

  const open = Effect.fnUntraced(function* (id: Protocol.LegId, command: Protocol.Command) {
    const leg = legOf(id)
    if (leg.open || leg.opening !== null) return yield* new MediaUnavailable({ reason: "leg_exists" })
    const opening = yield* Deferred.make<number, MediaUnavailable>()
    leg.opening = opening
    link.post(command)
    // A caller that no longer waits will not close what it never got.
    return yield* Effect.onInterrupt(Deferred.await(opening), () =>
      Effect.sync(() => link.post({ type: "close", leg: id }))
    )
  })

  /** A sound comes after its command, which has taken its place in the queue. */
  const supply = (leg: Protocol.LegId, media: MediaCommand) => {
    const sound = soundOf(media)
    if (sound === null) return
    const { id, load } = sound
    run(
      Effect.match(load, {
        onSuccess: (samples) => link.post({ type: "supply", leg, id, sound: { rate: 8000, samples } }),
        onFailure: ({ reason }) => link.post({ type: "supply_failed", leg, id, reason })
      })
    )
  }

  const soundOf = (media: MediaCommand) => {
    switch (media.type) {
      case "play":
        return { id: media.id, load: sources.load(media.url) }
      case "stop_playback":
      case "send_dtmf":
        return null
    }
  }

  const post = (command: Protocol.Command) => Effect.sync(() => link.post(command))

  return {
    openRtp: (leg) => Effect.map(open(leg, { type: "open_rtp", leg }), (port) => ({ address: announce, port })),
    connectRtp: (leg, remote) => post({ type: "connect_rtp", leg, remote }),
    openPhone: (leg, script) => Effect.asVoid(open(leg, { type: "open_phone", leg, script })),
    openJoined: (leg, peer) => Effect.asVoid(open(leg, { type: "open_joined", leg, peer })),
    command: (leg, media) =>
      Effect.sync(() => {
        link.post({ type: "media", leg, media })
        if (legs.get(leg)?.open === true) supply(leg, media)
      }),
    close: (leg) => post({ type: "close", leg }),
    subscribe: (leg, listener) =>
      Effect.sync(() => {
        legOf(leg).listener = listener
      })
  }
})
