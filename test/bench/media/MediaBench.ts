import { Effect } from "effect"
import * as Codecs from "../../../src/audio/codec/Codecs.ts"
import { LegId } from "../../../src/domain/Id.ts"
import type { ThreadConfig } from "../../../src/media/udp/PlaneThread.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as BarePlane from "./BarePlane.ts"
import * as Departures from "./Departures.ts"
import * as MediaThread from "./MediaThread.ts"
import * as Peers from "./Peers.ts"

const calls = 50
const rounds = 5
const settle = "1 second"
const secondsPerRound = 3
const hostilePerSecond = 1_500
const codecs = Object.keys(Codecs.table).filter(Codecs.isName)
/** For a codec without a static one. */
const dynamicPayloadType = 96

const pairAt = <A>(of: ReadonlyArray<A>, at: number): readonly [A, A] => {
  const [one, other] = of.slice(at)
  if (one === undefined || other === undefined) throw new Error("calls are bridged in pairs")
  return [one, other]
}

const config: ThreadConfig = {
  bindAddress: "127.0.0.1",
  portMin: 20_000,
  portMax: 21_999,
  mediaTimeoutMs: 0,
  maxLegs: 2 * calls,
  ringback: "US"
}

/** 50 calls over UDP on loopback, in the thread that the service has for them. */
export const run = Effect.gen(function* () {
  const peers = yield* Peers.start
  const bare = yield* BarePlane.start
  const thread = yield* MediaThread.start(config)

  /** The packets that left while the calls went on, and CPU time of this process a packet, microseconds. */
  const observed = Effect.gen(function* () {
    yield* Effect.sleep(settle)
    yield* peers.take
    const before = process.cpuUsage()
    yield* Effect.sleep(secondsPerRound * 1000)
    const { system, user } = process.cpuUsage(before)
    const departures = yield* peers.take
    return { calls: Departures.figures(departures), micros: (system + user) / departures.length }
  })

  const bareRound = Effect.gen(function* () {
    const ports = yield* bare.open(calls, peers.port)
    yield* peers.stream(ports, 0)
    const result = yield* observed
    yield* peers.stop
    yield* bare.close
    return result
  })

  let opened = 0
  const round = Effect.fnUntraced(function* (codec: Codecs.CodecName, bridged = false, attacked = false) {
    const payloadType = Codecs.table[codec].payloadType ?? dynamicPayloadType
    const legs = Array.from({ length: calls }, () => LegId.make(`bench ${opened++}`))
    const ports: Array<number> = []
    for (const leg of legs) {
      ports.push(yield* thread.open(leg))
      yield* thread.connect(leg, {
        address: "127.0.0.1",
        port: peers.port,
        rtcpPort: peers.rtcpPort,
        signallingAddress: null,
        codec,
        fmtp: null,
        audio: { send: payloadType, receive: payloadType },
        // Bridged legs would pass packets on, which another bench measures; with events on one side alone they cannot.
        telephoneEvent: bridged && ports.length % 2 === 0 ? { send: 101, receive: 101, clockRate: 8000 } : null,
        direction: "sendrecv"
      })
    }
    if (bridged) for (let at = 0; at < calls; at += 2) yield* thread.bridge(...pairAt(legs, at))
    yield* peers.stream(ports, payloadType, bridged)
    if (attacked) yield* peers.attack(ports[0] ?? 0, hostilePerSecond)
    const result = yield* observed
    yield* peers.stop
    for (const leg of legs) yield* thread.close(leg)
    return result
  })

  const results = yield* Rounds.interleaved<string, Round, never, never>(rounds, {
    bare: bareRound,
    ...Object.fromEntries(codecs.map((codec) => [codec, round(codec)])),
    bridged: round("PCMU", true),
    attacked: round("PCMU", true, true)
  })

  return figuresOf((name) => results[name] ?? [], peers.clock)
}).pipe(Effect.orDie)

interface Round {
  readonly calls: ReadonlyArray<Departures.Figures>
  readonly micros: number
}

const figuresOf = (
  of: (name: Codecs.CodecName | "bare" | "bridged" | "attacked") => ReadonlyArray<Round>,
  clock: string
): ReadonlyArray<Report.Figure> => {
  const median = (rounds: ReadonlyArray<Round>, value: (round: Round) => number) => Rounds.median(rounds.map(value))
  const ms = (value: number) => value.toFixed(2)
  const lateness = (rounds: ReadonlyArray<Round>, p: number) =>
    median(rounds, ({ calls }) =>
      Rounds.percentile(
        Departures.sorted(calls, (call) => call.lateness),
        p
      )
    )
  const delay = (p: number) =>
    median(of("bridged"), ({ calls }) =>
      Rounds.percentile(
        Departures.sorted(calls, (call) => call.delays),
        p
      )
    )
  const departures = (rounds: ReadonlyArray<Round>) =>
    [
      lateness(rounds, 0.5),
      lateness(rounds, 0.99),
      Math.max(...rounds.flatMap(({ calls }) => calls.flatMap((call) => call.lateness)))
    ]
      .map(ms)
      .join(" / ")
  /** Sum over all rounds, of the calls with these indices. */
  const sum = (rounds: ReadonlyArray<Round>, value: (call: Departures.Figures) => number, from = 0, to = calls) =>
    rounds.reduce((all, { calls }) => all + calls.slice(from, to).reduce((some, call) => some + value(call), 0), 0)
  const breaks = (rounds: ReadonlyArray<Round>, from?: number, to?: number) =>
    [
      sum(rounds, (call) => call.missing, from, to),
      sum(rounds, (call) => call.late, from, to),
      sum(rounds, (call) => call.altered, from, to)
    ].join(" / ") + ` of ${Report.number(sum(rounds, (call) => call.packets, from, to))}`
  const brokenAt = (index: number) => sum(of("attacked"), Departures.broken, index, index + 2)
  const worstOther = Math.max(...Array.from({ length: calls / 2 - 1 }, (_, index) => brokenAt(2 * index + 2)))
  return [
    Report.against(
      "departure behind the 20 ms raster, p99 ms",
      ms(lateness(of("PCMU"), 0.99)),
      "≤ 1.3",
      lateness(of("PCMU"), 0.99) <= 1.3
    ),
    Report.figure(`  p50 / p99 / max, by the ${clock}'s clock`, departures(of("PCMU"))),
    Report.figure("  the same of a bare loop", departures(of("bare"))),
    Report.figure("bare loop, CPU µs a leg and 20 ms", Report.number(median(of("bare"), ({ micros }) => micros))),
    ...codecs.flatMap((codec) => {
      const ratio = Rounds.median(of(codec).map(({ micros }, index) => micros / (of("bare")[index]?.micros ?? NaN)))
      return [
        Report.figure(`${codec}, CPU µs a leg and 20 ms`, Report.number(median(of(codec), ({ micros }) => micros))),
        Report.figure("  / bare loop", ratio.toFixed(2))
      ]
    }),
    Report.against("through the jitter buffer and a bridge, p50 ms", ms(delay(0.5)), "< 40", delay(0.5) < 40),
    Report.figure("  p99 ms", ms(delay(0.99))),
    Report.against(
      `frames broken by ${Report.number(hostilePerSecond)} hostile datagrams/s`,
      String(brokenAt(0)),
      `≤ ${worstOther}, the worst bridge beside it`,
      brokenAt(0) <= worstOther
    ),
    Report.figure("  missing / late / altered of the attacked bridge", breaks(of("attacked"), 0, 2)),
    Report.figure("  of the bridges beside it", breaks(of("attacked"), 2)),
    Report.figure("  of all calls, without an attack", breaks(of("bridged")))
  ]
}
