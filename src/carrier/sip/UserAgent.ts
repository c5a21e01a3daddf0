/**
 * The user agent: passes each message and command to its leg, and answers those without a leg, RFC 3261 sections 8.2,
 * 9.2, 11.2 and 12.2.2.
 */
import { Effect, Exit } from "effect"
import type { Flow } from "../../protocol/sip/Flow.ts"
import type { LegId } from "../../domain/Id.ts"
import * as FairShare from "../../domain/fair/FairShare.ts"
import * as DialogMethod from "../../protocol/sip/dialog/DialogMethod.ts"
import * as CallIds from "../../protocol/sip/message/header/CallIds.ts"
import * as MessageKey from "../../protocol/sip/message/MessageKey.ts"
import * as Responses from "../../protocol/sip/message/Responses.ts"
import type { Header, SipRequest } from "../../protocol/sip/message/SipMessage.ts"
import type { Authority, CarrierCommand, LegFacts, LegReport, Order, Snapshot } from "../Carrier.ts"
import type * as Bridges from "../bridge/Bridges.ts"
import type { Rooms } from "../room/Rooms.ts"
import type * as SharedRooms from "../room/SharedRooms.ts"
import * as CommandFailure from "../CommandFailure.ts"
import * as OrderMemory from "../OrderMemory.ts"
import * as Capabilities from "./Capabilities.ts"
import { type Context, ignore, type Leg } from "./Context.ts"
import * as InviteIdentity from "./leg/inbound/InviteIdentity.ts"
import type * as IngressFilter from "./ingress/IngressFilter.ts"
import * as InboundLeg from "./leg/inbound/InboundLeg.ts"
import * as OrphanedLeg from "./leg/OrphanedLeg.ts"
import * as OutboundLeg from "./leg/dial/OutboundLeg.ts"
import * as LegEvents from "./leg/LegEvents.ts"
import * as NonceMemory from "./NonceMemory.ts"
import * as TransactionLayer from "./TransactionLayer.ts"

export interface UserAgent {
  readonly transactions: TransactionLayer.TransactionLayer
  /** Never waits, never throws. */
  readonly command: (order: Order) => void
  /** Sends a request to the peer of a leg within its dialog, for the verbs of the call. */
  readonly perform: (legId: LegId, ...asked: Parameters<Leg["perform"]>) => void
  readonly snapshot: (authority: Authority, legIds: ReadonlyArray<LegId> | null) => Snapshot
  /** Calls `then` when the sink has settled every event that the leg has reported so far. */
  readonly caughtUp: (legId: LegId, then: () => void) => void
  readonly rooms: Rooms
  /** Refuses new calls of peers with 503 from now on. */
  readonly drain: () => void
  /** Counts the objects in memory, all of which go when their call does. */
  readonly held: () => Held
}

export interface Held {
  readonly legs: number
  readonly dialogs: number
  /** The INVITEs of peers that have no 2xx. */
  readonly invites: number
  readonly transactions: number
}

export interface Options extends Omit<
  Context,
  "transactions" | "memory" | "nonces" | "legs" | "bridges" | "rooms" | "callers" | "dialogs" | "callIds" | "invites"
> {
  readonly alarm: TransactionLayer.Alarm
  /** The bridges of its legs, which may include legs of other carriers. */
  readonly bridging: (legs: Bridges.Options) => Bridges.Bridges
  /** The rooms that its legs can join, which may include legs of other carriers. */
  readonly meeting: (legs: Omit<SharedRooms.Options, "incarnation">) => SharedRooms.Joined
  /** Takes an error in our code that a message or a timer exposed. */
  readonly fault: (error: unknown) => void
  readonly gate: IngressFilter.IngressFilter
  readonly stranger: TransactionLayer.Options["stranger"]
  /**
   * The most legs at once. Beyond it an INVITE gets 503 and a dial fails. One address places at most its fair share.
   */
  readonly maxLegs: number
}

const retryLater: Header = ["Retry-After", "5"]

/** A transaction outlives its purpose by half a minute, so an answered call of ten seconds holds about this many. */
const transactionsPerLeg = 8

export const make = ({ alarm, fault, maxLegs, ...given }: Options): UserAgent => {
  let draining = false

  const reply = (
    id: TransactionLayer.TransactionId,
    request: SipRequest,
    status: number,
    headers: ReadonlyArray<Header> = []
  ) => transactions.respond(id, Responses.make(request, status, { toTag: given.random(8), headers }))

  /** Whether a call from there would get 503 now. */
  const isClosedTo = (from: Flow): boolean =>
    draining || !context.callers.allows(from.remote.address, context.legs.size, maxLegs)

  const invited = (id: TransactionLayer.TransactionId, invite: SipRequest, from: Flow): void => {
    const source = from.remote.address
    const refuse = (status: number, why: string, headers: ReadonlyArray<Header> = []): void => {
      given.refused({ invite, source, status, why, legId: null, of: null })
      reply(id, invite, status, headers)
    }
    if (isClosedTo(from)) return refuse(503, draining ? "draining" : "full", [retryLater])
    transactions.respond(id, Responses.make(invite, 100))
    const to = InviteIdentity.called(invite)
    if (to === null) return refuse(404, "no number")
    InboundLeg.take(context, { id, invite, from, to, source })
  }

  /** A request outside any dialog. */
  const arrived = (id: TransactionLayer.TransactionId, request: SipRequest, from: Flow): void => {
    const { at, servedBy } = DialogMethod.of(request.method)
    if (at.outside === 481) return reply(id, request, 481)
    if (at.outside !== "serve") return reply(id, request, at.outside, [DialogMethod.allow])
    if (servedBy === "session") return invited(id, request, from)
    // OPTIONS gets the status that an INVITE would get now, section 11.2.
    return reply(id, request, isClosedTo(from) ? 503 : 200, Capabilities.options)
  }

  const dialogOf = (request: SipRequest) => context.dialogs.get(MessageKey.dialogOfRequest(request))

  const transactions: TransactionLayer.TransactionLayer = TransactionLayer.make({
    wire: given.transports,
    alarm,
    fault,
    stranger: given.stranger,
    turnedAway: (invite, { remote }, { reason, status }) =>
      given.refused({ invite, source: remote.address, status, why: reason, legId: null, of: null }),
    gate: given.gate,
    limit: maxLegs * transactionsPerLeg,
    server: {
      request: (id, request, from) => {
        if (MessageKey.toTag(request) === null) return arrived(id, request, from)
        const dialog = dialogOf(request)
        return dialog === undefined ? reply(id, request, 481) : dialog.request(id, request, from)
      },
      cancel: (id, request, invite, toTag) => {
        const listener = context.invites.get(invite)
        const tag = toTag ?? listener?.localTag ?? given.random(8)
        transactions.respond(id, Responses.make(request, 200, { toTag: tag }))
        listener?.cancelled(request)
      },
      ack: (request) => dialogOf(request)?.ack(request),
      hasDialog: (request) => dialogOf(request) !== undefined,
      ownsCall: (callId) => context.callIds.has(callId),
      refused: (invite, acknowledged) => context.invites.get(invite)?.refused(acknowledged)
    }
  })
  const memory = OrderMemory.make({ now: given.steadyMs, isLive: (legId: LegId) => context.legs.has(legId) })
  const legOf = (legId: LegId): Leg | null => context.legs.get(legId) ?? null
  const rooms = given.meeting({ legOf, unbridge: (legId) => context.bridges.unbridge(legId) })
  const context: Context = {
    ...given,
    transactions,
    memory,
    nonces: NonceMemory.make(),
    legs: new Map(),
    rooms,
    bridges: given.bridging({
      legOf,
      join: (legId, peerLegId, settled) =>
        given.run(
          Effect.match(given.plane.bridge(legId, peerLegId), {
            onSuccess: () => null,
            onFailure: ({ reason }) => reason
          }),
          (exit) => settled(Exit.isSuccess(exit) ? exit.value : "plane_stopped")
        ),
      part: (legId) => given.run(given.plane.unbridge(legId), ignore),
      leaveRoom: rooms.part
    }),
    callers: FairShare.make(),
    dialogs: new Map(),
    callIds: CallIds.make(),
    invites: new Map()
  }

  /** Reports the end of a leg that is not here. */
  const tell = ({ callId, legId }: CarrierCommand, report: LegReport): void =>
    LegEvents.make(context, legId).tell(callId, alarm.now(), report)

  const noCapacity = (command: CarrierCommand): void =>
    tell(command, { type: "ended", cause: "error", sipStatus: null, by: "near", why: "no_capacity" })

  /** Answers a command for a leg that has ended meanwhile, or that an earlier process had. */
  const unknownLeg = (command: CarrierCommand): void => {
    const failure = CommandFailure.of(command, "unknown_leg")
    if (failure !== null) tell(command, failure)
  }

  return {
    transactions,
    rooms: rooms.rooms,
    held: () => ({
      legs: context.legs.size,
      dialogs: context.dialogs.size,
      invites: context.invites.size,
      transactions: transactions.size()
    }),
    snapshot: (authority, legIds) => {
      memory.obey(authority)
      const legs: Record<string, LegFacts> = {}
      for (const legId of legIds ?? context.legs.keys()) {
        const facts = context.legs.get(legId)?.facts() ?? null
        if (facts !== null) legs[legId] = facts
      }
      return { incarnation: given.incarnation, legs }
    },
    caughtUp: (legId, then) => {
      const leg = context.legs.get(legId)
      return leg === undefined ? then() : leg.caughtUp(then)
    },
    drain: () => {
      draining = true
    },
    perform: (legId, action, heard) => {
      const leg = context.legs.get(legId)
      if (leg === undefined) return heard({ commandId: action.commandId, status: null })
      leg.perform(action, heard)
    },
    command: (order) => {
      const admitted = memory.admits(order.authority, order.command.legId, order.command.commandId)
      if (admitted === "no") return
      const { command } = order
      const leg = context.legs.get(command.legId)
      if (admitted === "over") return leg === undefined ? unknownLeg(command) : leg.caughtUp(() => unknownLeg(command))
      if (leg !== undefined) return leg.command(command)
      switch (command.type) {
        case "dial":
          return context.legs.size < maxLegs ? OutboundLeg.place(context, command) : noCapacity(command)
        case "hangup":
        case "reject":
          return OrphanedLeg.release(context, command)
        case "answer":
        case "ring":
        case "media":
        case "bridge":
        case "unbridge":
        case "join_room":
        case "leave_room":
        case "refer":
          return unknownLeg(command)
      }
    }
  }
}
