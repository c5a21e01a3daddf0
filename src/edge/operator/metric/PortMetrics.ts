import { Effect } from "effect"
import { IngressBans } from "../../../carrier/peer/IngressBans.ts"
import { TrunkStates } from "../../../carrier/peer/TrunkStates.ts"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"

/** Series of one metric: at most so many trunks, those with the lowest ids. */
const maxTrunks = 1_000

type Series = ReadonlyArray<readonly [labels: string, value: number]>

const metric = (name: string, type: "gauge" | "counter", help: string, series: Series): string =>
  series.length === 0
    ? ""
    : [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...series.map(([labels, value]) => `${name}{${labels}} ${value}`)
      ]
        .join("\n")
        .concat("\n")

/** Ids and addresses hold nothing that has to be escaped. */
const first = <A>(of: ReadonlyMap<string, A>): ReadonlyArray<readonly [id: string, A]> =>
  [...of].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, maxTrunks)

/**
 * What carriers report of trunks and strangers, in the Prometheus text format. It is read when asked, so a series goes
 * with its trunk, and an attacker's address after the attack.
 */
export const make = Effect.gen(function* () {
  const states = yield* TrunkStates
  const perimeter = yield* IngressBans
  const connections = yield* Trunks
  return Effect.map(connections.liveCalls, (calls) => {
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
        perimeter.loudest().map(({ messages, source }) => [`source="${source}"`, messages])
      )
    ].join("")
  })
})
