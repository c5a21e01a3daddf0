import { Effect } from "effect"
import * as Child from "../load/Child.ts"

/** A sent packet of ours: when it was sent, and which frame of the peer it carries. */
export interface Departure {
  /** Index of the call. */
  readonly call: number
  readonly sequenceNumber: number
  /** Milliseconds of `process.hrtime`. */
  readonly atMs: number
  /**
   * The number and sending time of the peer's packet whose sound it carries; null when it carries none of them whole.
   */
  readonly carries: { readonly number: number; readonly sentMs: number } | null
}

export interface Listening {
  /** The destination ports of RTP and RTCP, both on 127.0.0.1. */
  readonly port: number
  readonly rtcpPort: number
  readonly clock: "kernel" | "receiver"
}

export type Question =
  | { readonly type: "listen" }
  /** Sends a packet every 20 ms to each port, at a random phase, until `stop`. */
  | {
      readonly type: "stream"
      readonly ports: ReadonlyArray<number>
      readonly payloadType: number
      /**
       * Whether the calls 0 and 1, 2 and 3 and so on get each other's packets; else received packets are not the
       * peers'.
       */
      readonly bridged: boolean
      /** The payloads of the packets, in turn; null for octets of G.711 that identify the packet. */
      readonly payloads: ReadonlyArray<Uint8Array> | null
      /** The RTP clock units of a packet. */
      readonly unitsPerPacket: number
    }
  /** Sends hostile datagrams to a pair of ports, until `stop`. */
  | { readonly type: "attack"; readonly port: number; readonly perSecond: number }
  /** Takes the packets received since the last time. */
  | { readonly type: "take" }
  | { readonly type: "stop" }

/** Octets of sound in a packet of 20 ms at 64 kbit/s. */
export const payloadLength = 160

/** The far ends of all calls, in a separate process. */
export const start = Effect.gen(function* () {
  const { ask } = yield* Child.start<Listening | ReadonlyArray<Departure>>("./media/Peers.process.ts")
  const told = (question: Question) => Effect.asVoid(ask(question))
  const listening = yield* ask({ type: "listen" } satisfies Question)
  if (!("port" in listening)) return yield* Effect.die(new Error("the peers do not listen"))
  return {
    ...listening,
    stream: (
      ports: ReadonlyArray<number>,
      of: Partial<Omit<Extract<Question, { readonly type: "stream" }>, "type" | "ports">> & {
        readonly payloadType: number
      }
    ) => told({ type: "stream", ports, bridged: false, payloads: null, unitsPerPacket: payloadLength, ...of }),
    attack: (port: number, perSecond: number) => told({ type: "attack", port, perSecond }),
    take: Effect.map(ask({ type: "take" } satisfies Question), (taken) => ("port" in taken ? [] : taken)),
    stop: told({ type: "stop" })
  }
})
