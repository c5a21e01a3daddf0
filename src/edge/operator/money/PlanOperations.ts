import { Effect, Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import { Plans } from "../../../money/plan/Plan.ts"
import * as Operation from "../door/Operation.ts"

const limit = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })))

/** `billed_minutes=1000,lookups=50`. */
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

/** `plan set`, `plan list`. */
export const make = Effect.gen(function* () {
  const plans = yield* Plans
  return [
    Operation.make(
      "plan/set",
      Schema.Struct({
        slug: Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,59}$/)),
        name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(120)),
        description: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(500))),
        fee: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000_000 })),
        include: Schema.optionalKey(Schema.String),
        concurrent_calls: limit,
        conference_participants: limit,
        public: Schema.Boolean
      }),
      Effect.fnUntraced(function* (body) {
        return yield* plans.put({
          slug: body.slug,
          name: body.name,
          description: body.description ?? null,
          isPublic: body.public,
          monthlyFeeCents: body.fee,
          included: yield* quantities(body.include ?? ""),
          limits: {
            concurrentCallLimit: body.concurrent_calls ?? null,
            maxConferenceParticipants: body.conference_participants ?? null
          }
        })
      })
    ),
    Operation.make("plan/list", Operation.Nothing, () =>
      Effect.map(plans.list(false), (results) => ({
        results: results.map(({ included, ...plan }) => ({ ...plan, included: JSON.stringify(included) }))
      }))
    )
  ]
})
