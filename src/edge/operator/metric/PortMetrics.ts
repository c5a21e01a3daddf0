import { Effect } from "effect"
import { IngressBans } from "../../../carrier/peer/IngressBans.ts"
import { TrunkStates } from "../../../carrier/peer/TrunkStates.ts"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import { metric } from "./MetricText.ts"

/** The most trunks that a metric names; those with the lowest ids are named. */
const maxTrunks = 1_000

const first = <A>(of: ReadonlyMap<string, A>): ReadonlyArray<readonly [id: string, A]> =>
  [...of].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, maxTrunks)

/**
 * Metrics of trunks and strangers, as carriers report them. They are read at each scrape, so the series of a trunk ends
 * with the trunk, and that of an attacker's address with the attack.
 */
export const make = Effect.gen(function* () {
  const states = yield* TrunkStates
  const bans = yield* IngressBans
  const trunks = yield* Trunks
  return Effect.map(trunks.liveCalls, (calls) => {
    const known = first(states.all())
    return [
      metric(
        "sip_trunk_reachable",
        "gauge",
        "Whether the trunk answers OPTIONS: 1, 0, or NaN before the first answer",
        known.map(([id, { state }]) => [`route="${id}"`, state === "unknown" ? NaN : state === "reachable" ? 1 : 0])
      ),
      metric(
        "sip_trunk_rtt_seconds",
        "gauge",
        "From the last OPTIONS to its answer",
        known.flatMap(([id, { rttMs }]) => (rttMs === null ? [] : [[`route="${id}"`, rttMs / 1_000] as const]))
      ),
      metric(
        "sip_trunk_answers_total",
        "counter",
        "Final answers of trunks to our calls, by class (2xx to 6xx; none: no answer in time; cancelled: we gave up)",
        first(states.answers()).flatMap(([id, classes]) =>
          [...classes].map(([name, count]) => [`route="${id}",class="${name}"`, count] as const)
        )
      ),
      metric(
        "route_calls_live",
        "gauge",
        "Live calls by route",
        first(calls).map(([id, count]) => [`route="${id}"`, count])
      ),
      metric(
        "sip_stranger_messages_recent",
        "gauge",
        "Messages of the ten loudest strangers in the last 10 to 20 seconds",
        bans.loudest().map(({ messages, source }) => [`source="${source}"`, messages])
      )
    ].join("")
  })
})
