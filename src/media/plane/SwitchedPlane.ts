import { Deferred, Effect, type Scope } from "effect"
import type { TenantId } from "../../domain/Id.ts"
import type * as IpAddress from "../../domain/network/IpAddress.ts"
import type { Egress } from "../../ports/egress/Egress.ts"
import type { AudioDecoder } from "../sound/AudioDecoder.ts"
import type * as AudioSource from "../sound/AudioSource.ts"
import * as Captures from "../capture/Captures.ts"
import { type Attendant, BridgeRefused, type Listener, type MediaPlane, MediaUnavailable } from "./MediaPlane.ts"
import { type Attended, failureOf, isAttended } from "../../ports/media/MediaMessage.ts"
import * as LegPlaces from "./LegPlaces.ts"
import * as Placement from "./Placement.ts"
import * as PlaybackFeeds from "../sound/PlaybackFeeds.ts"
import type * as Protocol from "./Protocol.ts"
import * as StreamErrands from "../stream/StreamErrands.ts"

/** The way to the switch: in this thread or another. */
export interface SwitchLink {
  readonly post: (command: Protocol.Command) => void
  /** Registers the listeners. `onDown`: the switch and all its legs are gone; a new one takes commands. */
  readonly listen: (onEvent: (event: Protocol.Event) => void, onDown: () => void) => void
}

interface Leg {
  listener: Listener | null
  opening: Deferred.Deferred<number, MediaUnavailable> | null
  /** The callers that wait for the answers of the switch, which come in order. */
  readonly bridging: Array<Deferred.Deferred<void, BridgeRefused>>
  /** The callers that wait to learn whether a digit is new, in order, too. */
  readonly pressing: Array<(isNew: boolean) => void>
  /** The tenant of its call; null until the leg is being opened. */
  tenant: TenantId | null
  /** The places that it takes of that tenant's share. */
  held: LegPlaces.Held | null
  /** The last measurement. */
  quality: Protocol.Quality | null
  /** Null until the leg is being opened. */
  placement: Placement.Placement | null
  open: boolean
}

/**
 * The media plane over its switches, one for each thread. `addresses` are those that are announced to peers. A leg
 * beyond `capacity` is refused, and so is one of a tenant that has used its share.
 */
export const make = Effect.fnUntraced(function* (
  links: readonly [SwitchLink, ...ReadonlyArray<SwitchLink>],
  sources: AudioSource.AudioSource["Service"],
  addresses: IpAddress.Addresses,
  capacity: LegPlaces.Capacity
): Effect.fn.Return<MediaPlane["Service"], never, Egress | AudioDecoder | Scope.Scope> {
  const legs = new Map<Protocol.LegId, Leg>()

  const legOf = (id: Protocol.LegId): Leg => {
    const known = legs.get(id)
    if (known !== undefined) return known
    const leg: Leg = {
      listener: null,
      opening: null,
      bridging: [],
      pressing: [],
      tenant: null,
      held: null,
      quality: null,
      placement: null,
      open: false
    }
    legs.set(id, leg)
    return leg
  }

  const hold = LegPlaces.make(capacity)

  const giveBack = (leg: Leg | undefined): void => {
    leg?.held?.giveBack()
    if (leg !== undefined) leg.held = null
  }

  const forget = (id: Protocol.LegId, leg: Leg): void => {
    legs.delete(id)
    giveBack(leg)
  }

  const settle = (leg: Leg, outcome: Effect.Effect<number, MediaUnavailable>) => {
    if (leg.opening !== null) Deferred.doneUnsafe(leg.opening, outcome)
    leg.opening = null
  }

  const settleBridge = (leg: Leg, outcome: Effect.Effect<void, BridgeRefused>) => {
    const first = leg.bridging.shift()
    if (first !== undefined) Deferred.doneUnsafe(first, outcome)
  }
  /** Digits of a leg that is gone were brought by nothing else. */
  const dropPresses = (leg: Leg) => {
    for (const taken of leg.pressing.splice(0)) taken(true)
  }
  const dropBridges = (leg: Leg, reason: BridgeRefused["reason"]) => {
    while (leg.bridging.length > 0) settleBridge(leg, refused(reason))
  }
  const refused = (reason: BridgeRefused["reason"]) => Effect.fail(new BridgeRefused({ reason }))

  /** Posts a command to the switch of the leg, or to the first one, which answers that the leg is unknown. */
  const post = (command: Protocol.Command): void => {
    const { thread } = legs.get(command.leg)?.placement ?? { thread: 0 }
    const link = links[thread] ?? links[0]
    link.post(command)
  }

  /** Chooses the place of the first leg in `near` that has one, or the thread with the fewest legs. */
  const place = (near: ReadonlyArray<Protocol.LegId | undefined>): Placement.Placement => {
    for (const id of near) {
      const beside = id === undefined ? undefined : legs.get(id)?.placement
      if (beside !== undefined && beside !== null) return beside
    }
    const counts = links.map(() => 0)
    for (const { placement } of legs.values())
      if (placement !== null) counts[placement.thread] = (counts[placement.thread] ?? 0) + 1
    return { gateway: Placement.localGateway, thread: counts.indexOf(Math.min(...counts)) }
  }

  const onEvent = (event: Protocol.Event): void => {
    const leg = legs.get(event.leg)
    if (leg === undefined) return
    switch (event.type) {
      case "opened":
        leg.open = true
        return settle(leg, Effect.succeed(event.port))
      case "refused":
        // A leg that was not opened is never closed.
        forget(event.leg, leg)
        return settle(leg, Effect.fail(new MediaUnavailable({ reason: event.reason })))
      case "media":
        if (event.event.type === "ended" && !errands.ended(event.leg, event.event.id))
          feeds.ended(event.leg, event.event)
        return leg.listener?.told(event.event)
      case "wanted":
        return leg.tenant === null ? undefined : feeds.wanted(leg.tenant, event)
      case "unwanted":
        return feeds.unwanted(event.leg, event.id)
      case "captured":
      case "capture_ended":
        return captures.told(event.leg, event)
      case "stream_reach":
      case "stream_decode":
        return leg.tenant === null ? undefined : errands.asked(leg.tenant, event.leg, event)
      case "lost":
        return leg.listener?.lost(event.reason)
      case "spoke":
        return leg.listener?.spoke?.(event.memberId, event.isSpeaking)
      case "quality":
        leg.quality = event.quality
        return leg.listener?.measured?.(event.quality)
      case "bridged":
        return settleBridge(leg, Effect.void)
      case "bridge_refused":
        return settleBridge(leg, refused(event.reason))
      case "press_taken":
        return leg.pressing.shift()?.(event.isNew)
      case "closed":
        forget(event.leg, leg)
        feeds.closed(event.leg)
        captures.closed(event.leg)
        errands.closed(event.leg)
        dropPresses(leg)
        leg.listener?.closed?.(leg.quality)
        dropBridges(leg, "unknown_leg")
        return settle(leg, Effect.fail(new MediaUnavailable({ reason: "plane_stopped" })))
    }
  }

  /** The legs of one thread are gone. */
  const onDown = (thread: number): void => {
    const lost = [...legs].filter(([, { placement }]) => placement?.thread === thread)
    for (const [id, leg] of lost) {
      forget(id, leg)
      feeds.closed(id)
      captures.closed(id)
      errands.closed(id)
    }
    for (const [, leg] of lost) {
      dropBridges(leg, "plane_stopped")
      dropPresses(leg)
      settle(leg, Effect.fail(new MediaUnavailable({ reason: "plane_stopped" })))
      if (leg.open) leg.listener?.lost("plane_stopped")
      leg.listener?.closed?.(leg.quality)
    }
  }
  const feeds = yield* PlaybackFeeds.make(sources, post)
  const captures = Captures.make(post)
  const attendants = new Map<Attended["type"], Attendant>()
  const errands = yield* StreamErrands.make((leg, answer) => post({ leg, ...answer }))
  links.forEach((link, thread) => link.listen(onEvent, () => onDown(thread)))

  const open = Effect.fnUntraced(function* (
    tenant: TenantId,
    command: Protocol.Opening,
    ...near: ReadonlyArray<Protocol.LegId | undefined>
  ) {
    const leg = legOf(command.leg)
    if (leg.open || leg.opening !== null) return yield* new MediaUnavailable({ reason: "leg_exists" })
    const held = hold(tenant, command.type === "open_rtp")
    if (typeof held === "string") {
      legs.delete(command.leg)
      return yield* new MediaUnavailable({ reason: held })
    }
    leg.held = held
    leg.tenant = tenant
    const opening = yield* Deferred.make<number, MediaUnavailable>()
    const placement = place(near)
    leg.opening = opening
    leg.placement = placement
    post(command)
    // A caller that was interrupted does not know the leg, so it will not close it.
    const port = yield* Effect.onInterrupt(Deferred.await(opening), () =>
      Effect.sync(() => post({ type: "close", leg: command.leg }))
    )
    return { port, placement }
  })

  /** Posts a command that connects a leg with another one or with a room, if their places allow it. */
  const connect = Effect.fnUntraced(function* (id: Protocol.LegId, peer: Protocol.LegId, command: Protocol.Command) {
    const [leg, other] = [legs.get(id), legs.get(peer)]
    if (leg?.open !== true || other?.open !== true || leg.placement === null || other.placement === null)
      return yield* refused("unknown_leg")
    const apart = Placement.apart(leg.placement, other.placement)
    if (apart !== null) return yield* refused(apart)
    const bridging = yield* Deferred.make<void, BridgeRefused>()
    leg.bridging.push(bridging)
    post(command)
    return yield* Deferred.await(bridging)
  })

  const handOver = (command: Protocol.Command) => Effect.sync(() => post(command))

  return {
    addresses,
    openRtp: (leg, tenant, near) =>
      Effect.map(open(tenant, { type: "open_rtp", leg }, near), (opened) => ({ addresses, ...opened })),
    connectRtp: (leg, remote) => handOver({ type: "connect_rtp", leg, remote }),
    openPhone: (leg, tenant, script, near) => Effect.asVoid(open(tenant, { type: "open_phone", leg, script }, near)),
    openJoined: (leg, tenant, peer, near) =>
      Effect.asVoid(open(tenant, { type: "open_joined", leg, peer }, peer, near)),
    bridge: (leg, peer) => connect(leg, peer, { type: "bridge", leg, peer }),
    unbridge: (leg) => handOver({ type: "unbridge", leg }),
    openRoom: (room, tenant, near) => Effect.asVoid(open(tenant, { type: "open_room", leg: room }, near)),
    enterRoom: (leg, room, entry) => connect(leg, room, { type: "enter_room", leg, room, entry }),
    leaveRoom: (leg) => handOver({ type: "leave_room", leg }),
    changeMember: (room, memberId, change) => handOver({ type: "change_member", leg: room, memberId, change }),
    beep: (room, except) => handOver({ type: "room_beep", leg: room, except }),
    command: (leg, tenant, media, to) =>
      Effect.sync(() => {
        const known = legs.get(leg)
        if (!isAttended(media))
          return post(to === undefined ? { type: "media", leg, media } : { type: "room_media", leg, media, to })
        const attendant = attendants.get(media.type)
        if (attendant !== undefined) return attendant(leg, tenant, media)
        const failure = failureOf(media, "unsupported")
        if (failure !== null) known?.listener?.told(failure)
      }),
    press: (id, digit, taken) =>
      Effect.sync(() => {
        const leg = legs.get(id)
        if (leg?.open !== true) return taken(true)
        leg.pressing.push(taken)
        post({ type: "press", leg: id, digit })
      }),
    capture: (leg, id, wanted, receiver) =>
      Effect.sync(() => captures.open(leg, id, wanted, receiver, legs.get(leg)?.open === true)),
    attend: (types, attendant) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          for (const type of types) attendants.set(type, attendant)
        }),
        () =>
          Effect.sync(() => {
            for (const type of types) if (attendants.get(type) === attendant) attendants.delete(type)
          })
      ),
    // The place is given back at once, because a leg that is opened from now on is queued after this close.
    close: (leg) =>
      Effect.sync(() => {
        giveBack(legs.get(leg))
        post({ type: "close", leg })
      }),
    subscribe: (leg, listener) =>
      Effect.sync(() => {
        legOf(leg).listener = listener
      })
  }
})
