import { next } from "../../protocol/rtp/SequenceNumber.ts"
import type { Address } from "./PacketPort.ts"

/** How many packets in a row an unannounced source must send before it is accepted. */
const confirmations = 3
/** How long the known source must be silent before another may be learned. */
export const relearnAfterMs = 2000

const same = (a: Address, b: Address) => a.port === b.port && a.address === b.address
const kept = ({ address, port }: Address): Address => ({ address, port })

export type SourceLatch = ReturnType<typeof make>

/** The address of a peer in its session description, and that of its signalling. */
interface Announced extends Address {
  /** The IP literal that its signalling comes from; `null`: not known. */
  readonly signallingAddress: string | null
}

/**
 * The source of a peer's RTP, and so the destination of ours: symmetric RTP (RFC 4961) for peers behind a NAT, closed
 * to strangers.
 *
 * The rule:
 * 1. Packets from the announced address and port are accepted at any time.
 * 2. The announced host and the host of the signalling are credible with any port. A peer behind a NAT announces an
 *    address that only its own network knows; its packets come from the host of its signalling. Until a source is
 *    known, a credible one is learned after three packets in a row of one SSRC.
 * 3. A known source is kept until it was silent for 2 s; then another credible one is learned as in 2. Its host is
 *    credible, too.
 * 4. All other packets are from strangers: they are dropped and counted, however long the peer is silent. The same
 *    applies to RTCP, which a credible host may send from any port.
 * 5. A new announced address restarts the rule at 1.
 *
 * Packets that only help to learn a source are not played.
 */
export const make = (announced: Announced) => {
  let said = announced
  let current: Address = announced
  let known = false
  let heardAt = 0
  let candidate: {
    readonly from: Address
    readonly ssrc: number
    readonly expected: number
    readonly count: number
  } | null = null
  let strangers = 0

  const isBelievable = ({ address }: Address) =>
    address === said.address || address === said.signallingAddress || address === current.address

  const believe = (from: Address, now: number): true => {
    current = from
    known = true
    heardAt = now
    candidate = null
    return true
  }

  return {
    /** Whether a packet belongs to the peer; learns from it. `from` is lent for the call. */
    accept: (
      from: Address,
      packet: { readonly ssrc: number; readonly sequenceNumber: number },
      now: number
    ): boolean => {
      if (same(from, current)) return believe(current, now)
      if (same(from, said)) return believe(said, now)
      if (!isBelievable(from) || (known && now - heardAt < relearnAfterMs)) {
        strangers++
        return false
      }
      const inRow =
        candidate !== null &&
        same(candidate.from, from) &&
        candidate.ssrc === packet.ssrc &&
        candidate.expected === packet.sequenceNumber
      const count = inRow ? (candidate?.count ?? 0) + 1 : 1
      if (count >= confirmations) return believe(kept(from), now)
      candidate = { from: kept(from), ssrc: packet.ssrc, expected: next(packet.sequenceNumber), count }
      return false
    },
    /** Whether RTCP is accepted from this address. */
    acceptsControl: (from: Address): boolean => {
      if (isBelievable(from)) return true
      strangers++
      return false
    },
    /** Takes a new session description; the same address changes nothing. */
    announce: (next: Announced): void => {
      const moved = !same(next, said)
      said = next
      if (!moved) return
      current = next
      known = false
      candidate = null
    },
    /** The destination of our RTP; the same object as long as the address is the same. */
    remote: (): Address => current,
    /** Whether the peer sends from another address than it announced. */
    isTranslated: (): boolean => !same(current, said),
    /** Packets that were dropped because of their source. */
    strangers: (): number => strangers
  }
}
