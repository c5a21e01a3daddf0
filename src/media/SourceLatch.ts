import { next } from "../rtp/SequenceNumber.ts"
import type { Address } from "./PacketPort.ts"

/** Packets in a row that an unannounced source must send before it is believed. */
const confirmations = 3
/** Silence of the known source after which another may be learned. */
export const relearnAfterMs = 2000

const same = (a: Address, b: Address) => a.port === b.port && a.address === b.address
const kept = ({ address, port }: Address): Address => ({ address, port })

export type SourceLatch = ReturnType<typeof make>

/**
 * Where the RTP of a peer comes from and ours goes to: symmetric RTP (RFC 4961) for peers behind address translation,
 * closed to strangers.
 *
 * The rule:
 * 1. The announced address is believed at any time: where it is behind address translation, nothing comes from there.
 * 2. Until a source is known, any other is learned after three packets in a row of one SSRC.
 * 3. A known source stays. What comes from elsewhere is a stranger: dropped and counted.
 * 4. Only when it was silent for 2 s, a source with its IP address or its SSRC is learned as in 2. (an address
 *    translation that was set up anew keeps one of them; a stranger can know neither).
 * 5. Another announced address begins at 1.
 *
 * Packets that only help to learn a source are not played.
 */
export const make = (announced: Address) => {
  let signalled = announced
  let current = announced
  let known = false
  let heardAt = 0
  let ssrc = -1
  let candidate: {
    readonly from: Address
    readonly ssrc: number
    readonly expected: number
    readonly count: number
  } | null = null
  let strangers = 0

  const believe = (from: Address, packet: { readonly ssrc: number }, now: number): true => {
    current = from
    known = true
    ssrc = packet.ssrc
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
      if (same(from, current)) return believe(current, packet, now)
      if (same(from, signalled)) return believe(signalled, packet, now)
      const mayLearn =
        !known || (now - heardAt >= relearnAfterMs && (from.address === current.address || packet.ssrc === ssrc))
      if (!mayLearn) {
        strangers++
        return false
      }
      const inRow =
        candidate !== null &&
        same(candidate.from, from) &&
        candidate.ssrc === packet.ssrc &&
        candidate.expected === packet.sequenceNumber
      const count = inRow ? (candidate?.count ?? 0) + 1 : 1
      if (count >= confirmations) return believe(kept(from), packet, now)
      candidate = { from: kept(from), ssrc: packet.ssrc, expected: next(packet.sequenceNumber), count }
      return false
    },
    /** Whether RTCP may come from there: the host of the peer, any port. */
    acceptsControl: (from: Address): boolean => {
      if (from.address === current.address || from.address === signalled.address) return true
      strangers++
      return false
    },
    /** A new session description; the same address changes nothing. */
    announce: (address: Address): void => {
      if (same(address, signalled)) return
      signalled = address
      current = address
      known = false
      candidate = null
    },
    /** Where our RTP goes; the same object as long as it is the same address. */
    remote: (): Address => current,
    /** Whether the peer sends from elsewhere than it announced. */
    isTranslated: (): boolean => !same(current, signalled),
    /** Packets dropped because they came from elsewhere. */
    strangers: (): number => strangers
  }
}
