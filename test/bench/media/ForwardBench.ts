import { Effect } from "effect"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Calls from "./Calls.ts"

const legs = 100
const rounds = 9
const secondsPerRound = 2.5

/** 50 bridges in the thread that the service has for them, against a relay of the same packets in bare `dgram`. */
export const run = Effect.gen(function* () {
  const calls = yield* Calls.start(legs, secondsPerRound)
  const { captured, forwarded, relayed } = yield* Rounds.interleaved<
    "relayed" | "forwarded" | "captured",
    Calls.Round,
    never,
    never
  >(rounds, {
    relayed: calls.bare(true),
    forwarded: calls.round({ codec: "PCMU", path: "packets" }),
    captured: calls.round({ codec: "PCMU", path: "packets", captured: true })
  })

  const delay = (of: ReadonlyArray<Calls.Round>, p: number) => Calls.percentile(of, (call) => call.delays, p)
  const delays = (of: ReadonlyArray<Calls.Round>) => `${delay(of, 0.5).toFixed(2)} / ${delay(of, 0.99).toFixed(2)}`
  const micros = (of: ReadonlyArray<Calls.Round>) => Report.number(Calls.micros(of))
  const ratio = Calls.ratio(forwarded, relayed)
  const broken = (of: ReadonlyArray<Calls.Round>) =>
    `${of.reduce((sum, { calls }) => sum + calls.reduce((all, call) => all + call.missing + call.altered, 0), 0)} of ${Report.number(
      of.reduce((sum, { calls }) => sum + calls.reduce((all, call) => all + call.packets, 0), 0)
    )}`
  return [
    Report.against(
      "from arrival to departure, p99 ms",
      delay(forwarded, 0.99).toFixed(2),
      "< 3",
      delay(forwarded, 0.99) < 3
    ),
    Report.figure("  p50 / p99", delays(forwarded)),
    Report.figure("  while captured", delays(captured)),
    Report.figure("  of the bare relay", delays(relayed)),
    Report.figure("bare relay, CPU µs a packet", micros(relayed)),
    Report.figure("passed on, CPU µs a packet", micros(forwarded)),
    Report.against("  / bare relay, median of pairs", ratio.toFixed(2), "≤ 1.25", ratio <= 1.25),
    Report.figure("passed on and captured, CPU µs a packet", micros(captured)),
    Report.figure("  / bare relay, median of pairs", Calls.ratio(captured, relayed).toFixed(2)),
    Report.figure("packets missing or altered, passed on", broken(forwarded)),
    Report.figure("  passed on and captured", broken(captured))
  ]
}).pipe(Effect.orDie)
