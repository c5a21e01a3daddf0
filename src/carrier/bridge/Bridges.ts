import type { CommandId, LegId } from "../../domain/Id.ts"
import type { CarrierCommand } from "../CarrierCommand.ts"
import type { LegReport } from "../CarrierEvent.ts"
import type { LegFacts } from "../Snapshot.ts"

type Bridge = Extract<CarrierCommand, { readonly type: "bridge" }>

/** A leg, as bridges see it. */
export interface Bridgeable {
  /** Whether it is answered, and not over. */
  readonly isTalking: () => boolean
  /** Tells the call of the leg, in the order of all that the leg tells. */
  readonly tell: (report: LegReport) => void
}

export interface Options {
  /** Null: there is no such leg. */
  readonly legOf: (legId: LegId) => Bridgeable | null
  /**
   * Joins the sound of two legs. `settled` is called later: with null, or with why they cannot be joined. What is asked
   * of a leg is done in order.
   */
  readonly join: (legId: LegId, peerLegId: LegId, settled: (refusal: string | null) => void) => void
  /** Parts a leg from the one that it is joined with. */
  readonly part: (legId: LegId) => void
  /** Takes a leg out of its room, if it is in one. */
  readonly leaveRoom: (legId: LegId) => void
}

/**
 * The bridges between the legs of a carrier: each leg is in one at most, and never in a bridge and in a room.
 *
 * Both legs of a bridge tell that it stands, and that it is over. The calls of both may ask for it at once, and each
 * may ask again: then both legs tell once more that it stands, and nothing changes.
 */
export interface Bridges {
  readonly bridge: (command: Bridge) => void
  readonly unbridge: (legId: LegId) => void
  /** The leg has ended, and tells nothing any more. */
  readonly ended: (legId: LegId) => void
  /** With whom the leg is bridged, as a part of what the carrier knows of it. */
  readonly facts: (legId: LegId) => Pick<LegFacts, "bridge">
}

interface Pair {
  /** The command that began it: its leg is one end. */
  readonly first: Bridge
  /** Those that asked for it and have no outcome yet. */
  asked: Array<{ readonly legId: LegId; readonly commandId: CommandId }>
  stands: boolean
}

export const make = ({ join, leaveRoom, legOf, part }: Options): Bridges => {
  /** Both legs of each pair. */
  const pairs = new Map<LegId, Pair>()

  const tell = (legId: LegId, report: LegReport): void => legOf(legId)?.tell(report)

  /** The other leg of the pair, and its call. */
  const peerOf = ({ first }: Pair, legId: LegId): NonNullable<LegFacts["bridge"]> =>
    legId === first.legId
      ? { peerLegId: first.peerLegId, peerCallId: first.peerCallId }
      : { peerLegId: first.legId, peerCallId: first.callId }

  const legsOf = ({ first }: Pair): ReadonlyArray<LegId> => [first.legId, first.peerLegId]

  const forget = (pair: Pair): void => {
    for (const legId of legsOf(pair)) pairs.delete(legId)
  }

  const fail = ({ commandId, legId }: Pair["asked"][number], reason: string): void =>
    tell(legId, { type: "command_failed", commandId, reason })

  const tellStands = (pair: Pair): void => {
    pair.asked = []
    for (const legId of legsOf(pair)) tell(legId, { type: "bridged", ...peerOf(pair, legId) })
  }

  /** Takes the leg out of its pair, if it has one. */
  const leave = (legId: LegId): void => {
    const pair = pairs.get(legId)
    if (pair === undefined) return
    forget(pair)
    part(legId)
    for (const asked of pair.asked) fail(asked, "unbridged")
    if (!pair.stands) return
    for (const each of legsOf(pair))
      tell(each, { type: "unbridged", peerLegId: peerOf(pair, each).peerLegId, peerEnded: false })
  }

  const refusalOf = ({ legId, peerLegId }: Bridge): string | null => {
    const [leg, peer] = [legOf(legId), legOf(peerLegId)]
    if (legId === peerLegId) return "same_leg"
    if (leg === null || peer === null) return "unknown_leg"
    return leg.isTalking() && peer.isTalking() ? null : "not_answered"
  }

  const begin = (command: Bridge): void => {
    for (const legId of [command.legId, command.peerLegId]) {
      leave(legId)
      leaveRoom(legId)
    }
    const pair: Pair = { first: command, asked: [command], stands: false }
    for (const legId of legsOf(pair)) pairs.set(legId, pair)
    join(command.legId, command.peerLegId, (refusal) => {
      // It was ended while the media were asked.
      if (pairs.get(command.legId) !== pair) return
      pair.stands = refusal === null
      if (pair.stands) return tellStands(pair)
      forget(pair)
      for (const asked of pair.asked) fail(asked, refusal ?? "")
    })
  }

  return {
    bridge: (command) => {
      const refusal = refusalOf(command)
      if (refusal !== null) return fail(command, refusal)
      const pair = pairs.get(command.legId)
      if (pair === undefined || pair !== pairs.get(command.peerLegId)) return begin(command)
      pair.asked.push(command)
      if (pair.stands) tellStands(pair)
    },
    unbridge: leave,
    ended: (legId) => {
      const pair = pairs.get(legId)
      if (pair === undefined) return
      forget(pair)
      const { peerLegId } = peerOf(pair, legId)
      for (const asked of pair.asked) if (asked.legId === peerLegId) fail(asked, "unknown_leg")
      if (pair.stands) tell(peerLegId, { type: "unbridged", peerLegId: legId, peerEnded: true })
    },
    facts: (legId) => {
      const pair = pairs.get(legId)
      return pair?.stands === true ? { bridge: peerOf(pair, legId) } : {}
    }
  }
}
