import { Effect, Schema } from "effect"
import { Conferences, ConferenceStatus } from "../../../telephony/conference/Conference.ts"
import * as Id from "../../../domain/Id.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))

/** `conference list`, `conference show`, `conference end`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const conferences = yield* Conferences

  return [
    Operation.make(
      "conference/list",
      Schema.Struct({
        tenant: Operation.TenantRef,
        status: Schema.optionalKey(ConferenceStatus),
        name: Schema.optionalKey(Schema.String),
        limit: Schema.optionalKey(Limit)
      }),
      Effect.fnUntraced(function* ({ limit = 50, name, status, tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        const filters = { ...(status === undefined ? {} : { status }), ...(name === undefined ? {} : { name }) }
        return yield* conferences.list(id, filters, { limit, offset: 0 })
      })
    ),
    Operation.make("conference/show", Schema.Struct({ conference_id: Id.spelled("conf") }), ({ conference_id }) =>
      conferences.show(conference_id)
    ),
    Operation.make("conference/end", Schema.Struct({ conference_id: Id.spelled("conf") }), ({ conference_id }) =>
      conferences.endByOperator(conference_id)
    )
  ]
})
