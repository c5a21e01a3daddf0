import { Effect } from "effect"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Calls from "./Calls.ts"
import * as Departures from "./Departures.ts"

const legs = 50
const rounds = 5
const secondsPerRound = 2.5
const hostilePerSecond = 1_500
const codecs = Object.keys(Codecs.table).filter(Codecs.isName)

/** 25 bridges over UDP on loopback, whose sound is decoded and encoded, in the thread that the service has for them. */
export const run = Effect.gen(function* () {
  const calls = yield* Calls.start(legs, secondsPerRound)
  const results = yield* Rounds.interleaved<string, Calls.Round, never, never>(rounds, {
    bare: calls.bare(false),
    ...Object.fromEntries(codecs.map((codec) => [codec, calls.round({ codec, path: "frames" })])),
    attacked: calls.round({ codec: "PCMU", path: "frames", hostile: hostilePerSecond })
  })
  return figuresOf((name) => results[name] ?? [], calls.clock)
}).pipe(Effect.orDie)

const figuresOf = (
  of: (name: Codecs.CodecName | "bare" | "attacked") => ReadonlyArray<Calls.Round>,
  clock: string
): ReadonlyArray<Report.Figure> => {
  const ms = (value: number) => value.toFixed(2)
  const lateness = (rounds: ReadonlyArray<Calls.Round>, p: number) =>
    Calls.percentile(rounds, (call) => call.lateness, p)
  const delay = (p: number) => Calls.percentile(of("PCMU"), (call) => call.delays, p)
  const departures = (rounds: ReadonlyArray<Calls.Round>) =>
    [
      lateness(rounds, 0.5),
      lateness(rounds, 0.99),
      Math.max(...rounds.flatMap(({ calls }) => calls.flatMap((call) => call.lateness)))
    ]
      .map(ms)
      .join(" / ")
  /** The sum over all rounds, of the legs with these indices. */
  const sum = (rounds: ReadonlyArray<Calls.Round>, value: (call: Departures.Figures) => number, from = 0, to = legs) =>
    rounds.reduce((all, { calls }) => all + calls.slice(from, to).reduce((some, call) => some + value(call), 0), 0)
  const breaks = (rounds: ReadonlyArray<Calls.Round>, from?: number, to?: number) =>
    [
      sum(rounds, (call) => call.missing, from, to),
      sum(rounds, (call) => call.late, from, to),
      sum(rounds, (call) => call.altered, from, to)
    ].join(" / ") + ` of ${Report.number(sum(rounds, (call) => call.packets, from, to))}`
  const brokenAt = (index: number) => sum(of("attacked"), Departures.broken, index, index + 2)
  const worstOther = Math.max(...Array.from({ length: legs / 2 - 1 }, (_, index) => brokenAt(2 * index + 2)))
  return [
    Report.against(
      "departure behind the 20 ms raster, p99 ms",
      ms(lateness(of("PCMU"), 0.99)),
      "≤ 1.3",
      lateness(of("PCMU"), 0.99) <= 1.3
    ),
    Report.figure(`  p50 / p99 / max, by the ${clock}'s clock`, departures(of("PCMU"))),
    Report.figure("  the same of a bare loop", departures(of("bare"))),
    Report.figure("bare loop, CPU µs a leg and 20 ms", Report.number(Calls.micros(of("bare")))),
    ...codecs.flatMap((codec) => [
      Report.figure(`${codec}, both ways, CPU µs a leg and 20 ms`, Report.number(Calls.micros(of(codec)))),
      Report.figure("  / bare loop", Calls.ratio(of(codec), of("bare")).toFixed(2))
    ]),
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
    Report.figure("  of all calls, without an attack", breaks(of("PCMU")))
  ]
}
