import { Effect } from "effect"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Targets } from "../../../tenancy/target/Target.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"

const value = Flag.argument("host|.domain|network", Flag.text(300), "a host, a domain and all below it, or a network")

const put = (verdict: "allow" | "deny", summary: string) =>
  Command.make(`targets ${verdict}`, {
    summary,
    input: { value, reason: Flag.reason },
    run: ({ reason = null, value }) => Targets.use((targets) => targets.put(verdict, value, reason))
  })

/** guide/operation.md#targets. */
export const commands = [
  put("allow", "lets URLs of tenants lead there; once something is allowed, nothing else is"),
  put("deny", "refuses URLs of tenants that lead there, stored ones too, whatever is allowed"),
  Command.make("targets remove", {
    summary: "removes the rule for this host, domain or network",
    input: { value },
    run: ({ value }) => Targets.use((targets) => targets.remove(value))
  }),
  Command.make("targets list", {
    summary: "lists the rules for URLs of tenants",
    columns: "verdict value created_at reason",
    run: Effect.fnUntraced(function* () {
      const rules = yield* (yield* Targets).list
      return { results: rules.map(({ createdAt, ...rule }) => ({ ...rule, created_at: Timestamp.format(createdAt) })) }
    })
  })
]
