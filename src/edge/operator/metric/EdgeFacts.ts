import { Effect } from "effect"
import { LoudTenants } from "../../../runtime/fair/LoudTenants.ts"
import { BodyTurns, CommandTurns, RequestTurns } from "../../../runtime/fair/RequestTurns.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { ListTurns } from "../../../runtime/store/list/ListClient.ts"

/** So many tenants are named: each is a series of its own, and those of a year ago would all be kept. */
const named = 10

const gauge = (name: string, help: string, samples: ReadonlyArray<string>): string =>
  samples.length === 0 ? "" : [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...samples, ""].join("\n")

/**
 * Who is loud at the API now, and how many requests and lists wait, in the text format of Prometheus. The tenants that are named
 * change with time, so these are no metrics of the registry, which forgets nobody.
 */
export const make = Effect.gen(function* () {
  const loud = yield* LoudTenants
  const lists = yield* ListTurns
  const reads = yield* RequestTurns
  const commands = yield* CommandTurns
  const bodies = yield* BodyTurns
  return Effect.map(Monotonic.now, (now) => {
    const top = loud.top(named, now)
    const each = (name: string, value: (use: (typeof top)[number]) => number) =>
      top.map((use) => `${name}{tenant="${use.holder}"} ${value(use)}`)
    return [
      gauge(
        "api_loudest_tenant_requests",
        "Requests of the tenants that the API works for most, in the last one to two minutes",
        each("api_loudest_tenant_requests", ({ times }) => times)
      ),
      gauge(
        "api_loudest_tenant_seconds",
        "Seconds for which those requests held their turns",
        each("api_loudest_tenant_seconds", ({ cost }) => cost / 1_000)
      ),
      gauge("api_requests_waiting", "Requests that wait for their turn", [
        `api_requests_waiting ${reads.waiting() + commands.waiting() + bodies.waiting()}`
      ]),
      gauge("api_lists_waiting", "Lists that wait for their turn", [`api_lists_waiting ${lists.waiting()}`])
    ].join("")
  })
})
