import { Effect } from "effect"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import { LegId } from "../../../src/domain/Id.ts"
import * as Rounds from "../Rounds.ts"
import * as BarePlane from "./BarePlane.ts"
import * as Departures from "./Departures.ts"
import * as MediaThread from "./MediaThread.ts"
import * as Peers from "./Peers.ts"

/** The settings of the legs of a round, which are bridged in pairs. */
export interface Kind {
  readonly codec: Codecs.CodecName
  /** Whether they hear each other in frames, or their packets are passed on. */
  readonly path: "frames" | "packets"
  /** Whether one leg of each bridge is captured, as for a recording. */
  readonly captured?: boolean
  /** Hostile datagrams a second to the first leg. */
  readonly hostile?: number
}

export interface Round {
  readonly calls: ReadonlyArray<Departures.Figures>
  /** The CPU time of this process for each sent packet, in microseconds. */
  readonly micros: number
}

/** The payload type of a codec without a static one. */
const dynamicPayloadType = 96
const settle = "1 second"

/** A second of a tone, for a codec whose packets differ from G.711's 160 octets. */
const payloadsOf = (name: Codecs.CodecName): ReadonlyArray<Uint8Array> | null => {
  const { encoder, frameOctets, sampleRate } = Codecs.table[name]
  if (name === "PCMU" || name === "PCMA") return null
  const coder = encoder(null)
  const bytes = new Uint8Array(frameOctets)
  const sound = Tone.sine(440, -12, 1000, sampleRate)
  const length = sampleRate / 50
  const payloads = Array.from({ length: 50 }, (_, i) =>
    bytes.slice(0, coder.encode(sound.subarray(i * length, (i + 1) * length), bytes, 0))
  )
  coder.free()
  return payloads
}

/** Runs `legs` legs over UDP on loopback, in the thread that the service has for them, or in a bare one. */
export const start = Effect.fnUntraced(function* (legs: number, secondsPerRound: number) {
  const peers = yield* Peers.start
  const bare = yield* BarePlane.start
  const thread = yield* MediaThread.start({
    bindAddress: "127.0.0.1",
    portMin: 20_000,
    portMax: 21_999,
    mediaTimeoutMs: 0,
    maxLegs: 2 * legs,
    ringback: "US"
  })

  /** The packets that were sent while the calls ran. */
  const observed = Effect.gen(function* () {
    yield* Effect.sleep(settle)
    yield* peers.take
    const before = process.cpuUsage()
    yield* Effect.sleep(secondsPerRound * 1000)
    const { system, user } = process.cpuUsage(before)
    const departures = yield* peers.take
    yield* peers.stop
    return { calls: Departures.figures(departures), micros: (system + user) / departures.length } satisfies Round
  })

  let opened = 0
  return {
    /** The clock that stamps sent packets. */
    clock: peers.clock,
    /** A bare thread that sends each leg a packet every 20 ms, or relays the received ones. */
    bare: Effect.fnUntraced(function* (isRelay: boolean) {
      const ports = yield* isRelay ? bare.relay(legs, peers.port) : bare.open(legs, peers.port)
      yield* peers.stream(ports, { payloadType: 0, bridged: isRelay })
      const result = yield* observed
      yield* bare.close
      return result
    }),
    round: Effect.fnUntraced(function* ({ captured = false, codec, hostile = 0, path }: Kind) {
      const { clockRate } = Codecs.table[codec]
      const payloadType = Codecs.table[codec].payloadType ?? dynamicPayloadType
      const ids = Array.from({ length: legs }, () => LegId.make(`bench ${opened++}`))
      const ports: Array<number> = []
      for (const [index, leg] of ids.entries()) {
        ports.push(yield* thread.open(leg))
        // Packets cannot be passed on when only one side has telephone events.
        const hasEvents = path === "packets" || index % 2 === 0
        yield* thread.connect(leg, {
          address: "127.0.0.1",
          port: peers.port,
          rtcpPort: peers.rtcpPort,
          signallingAddress: null,
          codec,
          fmtp: null,
          audio: { send: payloadType, receive: payloadType },
          telephoneEvent: hasEvents ? { send: 101, receive: 101, clockRate: 8000 } : null,
          ptimeMs: 20,
          direction: "sendrecv"
        })
      }
      for (let at = 0; at < legs; at += 2) {
        const [one, other] = ids.slice(at)
        if (one === undefined || other === undefined) continue
        yield* thread.bridge(one, other)
        if (captured) yield* thread.capture(one)
      }
      yield* peers.stream(ports, {
        payloadType,
        bridged: true,
        payloads: payloadsOf(codec),
        unitsPerPacket: clockRate / 50
      })
      if (hostile > 0) yield* peers.attack(ports[0] ?? 0, hostile)
      const result = yield* observed
      for (const leg of ids) yield* thread.close(leg)
      return result
    })
  }
})

/** The median over rounds of a percentile over all packets of a round. */
export const percentile = (
  rounds: ReadonlyArray<Round>,
  of: (call: Departures.Figures) => ReadonlyArray<number>,
  p: number
): number => Rounds.median(rounds.map(({ calls }) => Rounds.percentile(Departures.sorted(calls, of), p)))

export const micros = (rounds: ReadonlyArray<Round>): number => Rounds.median(rounds.map((round) => round.micros))

/** The median ratio of paired rounds of one run. */
export const ratio = (of: ReadonlyArray<Round>, to: ReadonlyArray<Round>): number =>
  Rounds.median(of.map(({ micros }, index) => micros / (to[index]?.micros ?? NaN)))
