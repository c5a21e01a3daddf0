import { Effect } from "effect"
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
const codecs = [
  { codec: "PCMU", payloadType: 0 },
  { codec: "PCMA", payloadType: 8 }
] as const

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
  maxLegs: 2 * calls
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
  const round = Effect.fnUntraced(function* (
    { codec, payloadType }: (typeof codecs)[number],
    { attacked, bridged }: { readonly bridged: boolean; readonly attacked: boolean }
  ) {
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
        audio: { send: payloadType, receive: payloadType },
        telephoneEvent: null,
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

  const results = yield* Rounds.interleaved(rounds, {
    bare: bareRound,
    PCMU: round(codecs[0], { bridged: false, attacked: false }),
    PCMA: round(codecs[1], { bridged: false, attacked: false }),
    bridged: round(codecs[0], { bridged: true, attacked: false }),
    attacked: round(codecs[0], { bridged: true, attacked: true })
  })

  return figuresOf(results, peers.clock)
}).pipe(Effect.orDie)

interface Round {
  readonly calls: ReadonlyArray<Departures.Figures>
  readonly micros: number
}

const figuresOf = (
  results: Readonly<Record<"bare" | "PCMU" | "PCMA" | "bridged" | "attacked", ReadonlyArray<Round>>>,
  clock: string
): ReadonlyArray<Report.Figure> => {
  const median = (of: ReadonlyArray<Round>, value: (round: Round) => number) => Rounds.median(of.map(value))
  const ms = (value: number) => value.toFixed(2)
  const lateness = (of: ReadonlyArray<Round>, p: number) =>
    median(of, ({ calls }) =>
      Rounds.percentile(
        Departures.sorted(calls, (call) => call.lateness),
        p
      )
    )
  const delay = (p: number) =>
    median(results.bridged, ({ calls }) =>
      Rounds.percentile(
        Departures.sorted(calls, (call) => call.delays),
        p
      )
    )
  const departures = (of: ReadonlyArray<Round>) =>
    [
      lateness(of, 0.5),
      lateness(of, 0.99),
      Math.max(...of.flatMap(({ calls }) => calls.flatMap((call) => call.lateness)))
    ]
      .map(ms)
      .join(" / ")
  /** Sum over all rounds, of the calls with these indices. */
  const sum = (of: ReadonlyArray<Round>, value: (call: Departures.Figures) => number, from = 0, to = calls) =>
    of.reduce((all, { calls }) => all + calls.slice(from, to).reduce((some, call) => some + value(call), 0), 0)
  const breaks = (of: ReadonlyArray<Round>, from?: number, to?: number) =>
    [
      sum(of, (call) => call.missing, from, to),
      sum(of, (call) => call.late, from, to),
      sum(of, (call) => call.altered, from, to)
    ].join(" / ") + ` of ${Report.number(sum(of, (call) => call.packets, from, to))}`
  const brokenAt = (index: number) => sum(results.attacked, Departures.broken, index, index + 2)
  const worstOther = Math.max(...Array.from({ length: calls / 2 - 1 }, (_, index) => brokenAt(2 * index + 2)))
  return [
    Report.against(
      "departure behind the 20 ms raster, p99 ms",
      ms(lateness(results.PCMU, 0.99)),
      "≤ 1.3",
      lateness(results.PCMU, 0.99) <= 1.3
    ),
    Report.figure(`  p50 / p99 / max, by the ${clock}'s clock`, departures(results.PCMU)),
    Report.figure("  the same of a bare loop", departures(results.bare)),
    Report.figure("bare loop, CPU µs a leg and 20 ms", Report.number(median(results.bare, ({ micros }) => micros))),
    ...codecs.flatMap(({ codec }) => {
      const ratio = Rounds.median(
        results[codec].map(({ micros }, index) => micros / (results.bare[index]?.micros ?? NaN))
      )
      return [
        Report.figure(
          `${codec}, CPU µs a leg and 20 ms`,
          Report.number(median(results[codec], ({ micros }) => micros))
        ),
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
    Report.figure("  missing / late / altered of the attacked bridge", breaks(results.attacked, 0, 2)),
    Report.figure("  of the bridges beside it", breaks(results.attacked, 2)),
    Report.figure("  of all calls, without an attack", breaks(results.bridged))
  ]
}
