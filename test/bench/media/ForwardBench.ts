import { Effect } from "effect"
import { LegId } from "../../../src/domain/Id.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as BarePlane from "./BarePlane.ts"
import * as Departures from "./Departures.ts"
import * as MediaThread from "./MediaThread.ts"
import * as Peers from "./Peers.ts"

const legs = 100
const rounds = 9
const settle = "1 second"
const secondsPerRound = 2.5
const payloadType = 0

interface Round {
  readonly calls: ReadonlyArray<Departures.Figures>
  readonly micros: number
}

/** 50 bridges in the thread that the service has for them, against a relay of the same packets in bare `dgram`. */
export const run = Effect.gen(function* () {
  const peers = yield* Peers.start
  const bare = yield* BarePlane.start
  const thread = yield* MediaThread.start({
    bindAddress: "127.0.0.1",
    portMin: 22_000,
    portMax: 23_999,
    mediaTimeoutMs: 0,
    maxLegs: 2 * legs,
    ringback: "US"
  })

  const observed = Effect.gen(function* () {
    yield* Effect.sleep(settle)
    yield* peers.take
    const before = process.cpuUsage()
    yield* Effect.sleep(secondsPerRound * 1000)
    const { system, user } = process.cpuUsage(before)
    const departures = yield* peers.take
    yield* peers.stop
    return { calls: Departures.figures(departures), micros: (system + user) / departures.length }
  })

  const relayed = Effect.gen(function* () {
    yield* peers.stream(yield* bare.relay(legs, peers.port), payloadType, true)
    const result = yield* observed
    yield* bare.close
    return result
  })

  let opened = 0
  const forwarded = Effect.fnUntraced(function* (isCaptured: boolean) {
    const ids = Array.from({ length: legs }, () => LegId.make(`forward ${opened++}`))
    const ports: Array<number> = []
    for (const leg of ids) {
      ports.push(yield* thread.open(leg))
      yield* thread.connect(leg, {
        address: "127.0.0.1",
        port: peers.port,
        rtcpPort: peers.rtcpPort,
        signallingAddress: null,
        codec: "PCMU",
        fmtp: null,
        audio: { send: payloadType, receive: payloadType },
        telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
        direction: "sendrecv"
      })
    }
    for (let at = 0; at < legs; at += 2) {
      const [one, other] = ids.slice(at)
      if (one === undefined || other === undefined) continue
      yield* thread.bridge(one, other)
      if (isCaptured) yield* thread.capture(one)
    }
    yield* peers.stream(ports, payloadType, true)
    const result = yield* observed
    for (const leg of ids) yield* thread.close(leg)
    return result
  })

  const results = yield* Rounds.interleaved<"relayed" | "forwarded" | "captured", Round, never, never>(rounds, {
    relayed,
    forwarded: forwarded(false),
    captured: forwarded(true)
  })

  const delay = (of: ReadonlyArray<Round>, p: number) =>
    Rounds.median(
      of.map(({ calls }) =>
        Rounds.percentile(
          Departures.sorted(calls, (call) => call.delays),
          p
        )
      )
    )
  const delays = (of: ReadonlyArray<Round>) => `${delay(of, 0.5).toFixed(2)} / ${delay(of, 0.99).toFixed(2)}`
  const ratio = (of: ReadonlyArray<Round>) =>
    Rounds.median(of.map(({ micros }, index) => micros / (results.relayed[index]?.micros ?? NaN)))
  const micros = (of: ReadonlyArray<Round>) => Report.number(Rounds.median(of.map((round) => round.micros)))
  const broken = (of: ReadonlyArray<Round>) =>
    `${of.reduce((sum, { calls }) => sum + calls.reduce((all, call) => all + call.missing + call.altered, 0), 0)} of ${Report.number(
      of.reduce((sum, { calls }) => sum + calls.reduce((all, call) => all + call.packets, 0), 0)
    )}`
  return [
    Report.against(
      "from arrival to departure, p99 ms",
      delay(results.forwarded, 0.99).toFixed(2),
      "< 3",
      delay(results.forwarded, 0.99) < 3
    ),
    Report.figure("  p50 / p99", delays(results.forwarded)),
    Report.figure("  while captured", delays(results.captured)),
    Report.figure("  of the bare relay", delays(results.relayed)),
    Report.figure("bare relay, CPU µs a packet", micros(results.relayed)),
    Report.figure("passed on, CPU µs a packet", micros(results.forwarded)),
    Report.against(
      "  / bare relay, median of pairs",
      ratio(results.forwarded).toFixed(2),
      "≤ 1.25",
      ratio(results.forwarded) <= 1.25
    ),
    Report.figure("passed on and captured, CPU µs a packet", micros(results.captured)),
    Report.figure("  / bare relay, median of pairs", ratio(results.captured).toFixed(2)),
    Report.figure("packets missing or altered, passed on", broken(results.forwarded)),
    Report.figure("  passed on and captured", broken(results.captured))
  ]
}).pipe(Effect.orDie)
