import { Effect } from "effect"
import { BodyTurns, CommandTurns, LoudTenants, RequestTurns } from "../../../domain/fair/RequestTurns.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { ListTurns } from "../../../runtime/store/list/ListClient.ts"
import { metric } from "./MetricText.ts"

/** The number of tenants with a series. It is small because scrapers keep every series that they have ever seen. */
const named = 10

/**
 * The tenants that use the API most now, and how many requests and lists wait. The named tenants change with time, so
 * these metrics are not in the registry, which keeps every label for ever.
 */
export const make = Effect.gen(function* () {
  const loud = yield* LoudTenants
  const lists = yield* ListTurns
  const reads = yield* RequestTurns
  const commands = yield* CommandTurns
  const bodies = yield* BodyTurns
  return Effect.map(Monotonic.now, (now) => {
    const top = loud.top(named, now)
    const each = (value: (use: (typeof top)[number]) => number) =>
      top.map((use) => [`tenant="${use.holder}"`, value(use)] as const)
    const waiting = reads.waiting() + commands.waiting() + bodies.waiting()
    return [
      metric(
        "api_loudest_tenant_requests",
        "gauge",
        "Requests of the tenants that the API works for most, in the last one to two minutes",
        each(({ times }) => times)
      ),
      metric(
        "api_loudest_tenant_seconds",
        "gauge",
        "Seconds for which those requests held their turns",
        each(({ cost }) => cost / 1_000)
      ),
      metric("api_requests_waiting", "gauge", "Requests that wait for their turn", waiting),
      metric("api_lists_waiting", "gauge", "Lists that wait for their turn", lists.waiting())
    ].join("")
  })
})
