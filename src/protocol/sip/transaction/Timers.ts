import * as Flow from "../Flow.ts"

/**
 * Transaction timers, RFC 3261 section 17 and table 4, RFC 6026 section 7. All values are milliseconds.
 *
 * A timer that a reliable transport does not run is `Infinity` (never due); one that is zero there is due at once. So
 * the machines do not depend on the transport.
 */
export interface Timers {
  /** Round-trip estimate. */
  readonly t1: number
  /** Longest interval between retransmissions of a non-INVITE request or an INVITE response. */
  readonly t2: number
  /** Longest life of a message in the network. */
  readonly t4: number
  /** Until the first INVITE retransmission; doubles after each. */
  readonly a: number
  /** Until the INVITE client gives up. */
  readonly b: number
  /** Until a proxy gives up on a ringing branch; a user agent has its own ring timeout and does not run it. */
  readonly c: number
  /** How long the INVITE client absorbs retransmitted 3xx to 6xx. */
  readonly d: number
  /** Until the first non-INVITE retransmission; doubles after each up to `t2`. */
  readonly e: number
  /** Until the non-INVITE client gives up. */
  readonly f: number
  /** Until the first retransmission of a 3xx to 6xx; doubles after each up to `t2`. */
  readonly g: number
  /** Until the INVITE server gives up waiting for ACK. */
  readonly h: number
  /** How long the INVITE server absorbs retransmitted ACKs. */
  readonly i: number
  /** How long the non-INVITE server absorbs retransmitted requests. */
  readonly j: number
  /** How long the non-INVITE client absorbs retransmitted responses. */
  readonly k: number
  /** How long the INVITE server absorbs retransmitted INVITEs after a 2xx. */
  readonly l: number
  /** How long the INVITE client passes on repeated and forked 2xx. */
  readonly m: number
  /** Until the INVITE server sends 100 itself, unless the user agent core has answered. */
  readonly trying: number
}

interface Options extends Partial<Timers> {
  /** TCP and TLS: nothing is retransmitted or absorbed. Default `false`. */
  readonly reliable?: boolean
}

/** Derives every timer from T1, T2, T4, unless it is named. Retransmission intervals are at least 1 ms. */
export const make = ({ reliable = false, ...given }: Options = {}): Timers => {
  const t1 = Math.max(1, given.t1 ?? 500)
  const t2 = Math.max(1, given.t2 ?? 4_000)
  const t4 = given.t4 ?? 5_000
  const derived: Timers = {
    t1,
    t2,
    t4,
    a: reliable ? Infinity : t1,
    b: 64 * t1,
    c: 180_001,
    d: reliable ? 0 : Math.max(32_000, 64 * t1),
    e: reliable ? Infinity : t1,
    f: 64 * t1,
    g: reliable ? Infinity : t1,
    h: 64 * t1,
    i: reliable ? 0 : t4,
    j: reliable ? 0 : 64 * t1,
    k: reliable ? 0 : t4,
    l: 64 * t1,
    m: 64 * t1,
    trying: 200
  }
  const timers = { ...derived, ...given, t1, t2, t4 }
  return { ...timers, a: Math.max(1, timers.a), e: Math.max(1, timers.e), g: Math.max(1, timers.g) }
}

/** The values of RFC 3261 over UDP. */
export const udp: Timers = make()

/** The values over a reliable transport: nothing is retransmitted, and no retransmission is awaited. */
export const reliable: Timers = make({ reliable: true })

/** The timers of a transaction on this flow. */
export const on = (flow: Flow.Flow): Timers => (Flow.isReliable(flow) ? reliable : udp)
