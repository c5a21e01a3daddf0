import { Effect, Schema } from "effect"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Targets } from "../../../tenancy/target/Target.ts"
import * as Operation from "../door/Operation.ts"

const Value = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(300))
const Reason = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** `targets allow`, `deny`, `remove`, `list`, guide/operation.md#targets. */
export const make = Effect.gen(function* () {
  const targets = yield* Targets

  const put = (verdict: "allow" | "deny") =>
    Operation.make(
      `targets/${verdict}`,
      Schema.Struct({ value: Value, reason: Schema.optionalKey(Reason) }),
      ({ reason, value }) => targets.put(verdict, value, reason ?? null)
    )

  return [
    put("allow"),
    put("deny"),
    Operation.make("targets/remove", Schema.Struct({ value: Value }), ({ value }) => targets.remove(value)),
    Operation.make("targets/list", Operation.Nothing, () =>
      Effect.map(targets.list, (rules) => ({
        results: rules.map(({ createdAt, ...rule }) => ({ ...rule, created_at: Timestamp.format(createdAt) }))
      }))
    )
  ]
})
