import type { CommandId, LegId } from "../../domain/Id.ts"
import type { CarrierCommand } from "../CarrierCommand.ts"
import type { LegReport } from "../CarrierEvent.ts"
import type { LegFacts } from "../Snapshot.ts"

type Bridge = Extract<CarrierCommand, { readonly type: "bridge" }>

/** A leg that can be bridged. */
export interface Bridgeable {
  /** Whether the leg is answered and has not ended. */
  readonly isTalking: () => boolean
  /** Reports to the call of the leg, in the order of all the leg's reports. */
  readonly tell: (report: LegReport) => void
}

export interface Options {
  /** Null when there is no such leg. */
  readonly legOf: (legId: LegId) => Bridgeable | null
  /**
   * Joins the sound of two legs. `settled` is called later: with null, or with the reason why they cannot be joined.
   * The requests for one leg are carried out in order.
   */
  readonly join: (legId: LegId, peerLegId: LegId, settled: (refusal: string | null) => void) => void
  /** Separates a leg from the one that it is joined with. */
  readonly part: (legId: LegId) => void
  /** Takes a leg out of its room, if it is in one. */
  readonly leaveRoom: (legId: LegId) => void
}

/**
 * The bridges between the legs of a carrier: each leg is in one at most, and never in a bridge and in a room.
 *
 * Both legs of a bridge report its beginning and its end. The calls of both may request it at once, and each may
 * request it again: then both legs report it once more, and nothing changes.
 */
export interface Bridges {
  readonly bridge: (command: Bridge) => void
  readonly unbridge: (legId: LegId) => void
  /** The leg has ended, and reports nothing any more. */
  readonly ended: (legId: LegId) => void
  /** The leg's bridge, as a part of the carrier's facts about the leg. */
  readonly facts: (legId: LegId) => Pick<LegFacts, "bridge">
}

interface Pair {
  /** The command that began the bridge: its leg is one end. */
  readonly first: Bridge
  /** The commands that requested the bridge and have no outcome yet. */
  asked: Array<{ readonly legId: LegId; readonly commandId: CommandId }>
  stands: boolean
}

export const make = ({ join, leaveRoom, legOf, part }: Options): Bridges => {
  /** Maps both legs of each pair to the pair. */
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

  const start = (command: Bridge): void => {
    for (const legId of [command.legId, command.peerLegId]) {
      leave(legId)
      leaveRoom(legId)
    }
    const pair: Pair = { first: command, asked: [command], stands: false }
    for (const legId of legsOf(pair)) pairs.set(legId, pair)
    join(command.legId, command.peerLegId, (refusal) => {
      // The bridge ended while the media worked on it.
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
      if (pair === undefined || pair !== pairs.get(command.peerLegId)) return start(command)
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
