import { Effect, Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Plans } from "../../../money/plan/Plan.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"

const Limit = Flag.between(0, 1_000_000)

/** Reads `billed_minutes=1000,lookups=50`. */
const quantities = Effect.fnUntraced(function* (text: string) {
  const included: Record<string, number> = {}
  for (const part of text.split(",").filter((one) => one !== "")) {
    const [, name, count] = /^([a-z_]+)=([0-9]{1,9})$/.exec(part.trim()) ?? []
    if (name === undefined)
      return yield* ApiError.of("invalid_request", `"${part}" is not a field and a number, as lookups=50`)
    included[name] = Number(count)
  }
  return included
})

/** guide/operation.md#plans. */
export const commands = [
  Command.make("plan set", {
    summary: "makes or changes a plan; only with --public can tenants choose it",
    input: {
      slug: Flag.argument("slug", Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,59}$/)), "the plan"),
      name: Flag.of(Flag.name(120), "the name that tenants see"),
      description: Flag.optional(Schema.String.check(Schema.isMaxLength(500)), "what tenants read of it", {
        value: "TEXT"
      }),
      fee: Flag.of(Wire.absentIs(0, Flag.between(0, 100_000_000)), "what it costs a month; nothing unless given", {
        value: "CENTS"
      }),
      include: Flag.optional(Schema.String, "what the fee includes", { value: "billed_minutes=1000,lookups=50" }),
      concurrentCalls: Flag.optional(Limit, "calls at once"),
      conferenceParticipants: Flag.optional(Limit, "participants of one conference"),
      public: Flag.on("tenants can choose it")
    },
    run: Effect.fnUntraced(function* (plan) {
      return yield* (yield* Plans).put({
        slug: plan.slug,
        name: plan.name,
        description: plan.description ?? null,
        isPublic: plan.public,
        monthlyFeeCents: plan.fee,
        included: yield* quantities(plan.include ?? ""),
        limits: {
          concurrentCallLimit: plan.concurrentCalls ?? null,
          maxConferenceParticipants: plan.conferenceParticipants ?? null
        }
      })
    })
  }),
  Command.make("plan list", {
    summary: "lists all plans",
    columns: "slug name monthly_fee_cents is_public included",
    run: Effect.fnUntraced(function* () {
      const plans = yield* (yield* Plans).list(false)
      return { results: plans.map(({ included, ...plan }) => ({ ...plan, included: JSON.stringify(included) })) }
    })
  })
]
