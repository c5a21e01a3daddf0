import { Effect, Schema } from "effect"
import { Invoices } from "../../../money/invoice/Invoice.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

/** One line of print: no control character has a place on an invoice. */
const Text = Schema.String.check(Schema.isPattern(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u))

const party = {
  name: Text,
  address: Schema.Array(Text).check(Schema.isMinLength(1), Schema.isMaxLength(8)),
  tax_id: Schema.optionalKey(Text),
  email: Schema.optionalKey(Text)
}
const partyOf = (body: {
  readonly name: string
  readonly address: ReadonlyArray<string>
  readonly tax_id?: string
  readonly email?: string
}) => ({ name: body.name, address: body.address, taxId: body.tax_id ?? null, email: body.email ?? null })

/** `invoice seller`, `invoice buyer`, `invoice issue`, `invoice give-up`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const invoices = yield* Invoices
  return [
    Operation.make("invoice/seller", Schema.Struct(party), (body) =>
      Effect.as(invoices.setSeller(partyOf(body)), { name: body.name, address: body.address.join(", ") })
    ),
    Operation.make(
      "invoice/buyer",
      Schema.Struct({ tenant: Operation.TenantRef, ...party }),
      Effect.fnUntraced(function* ({ tenant, ...body }) {
        const { id } = yield* tenants.findByReference(tenant)
        yield* invoices.setBuyer(id, partyOf(body))
        return { tenant: id, name: body.name, address: body.address.join(", ") }
      })
    ),
    Operation.make("invoice/issue", Operation.Nothing, () =>
      Effect.gen(function* () {
        yield* invoices.issue
        return { issued: (yield* invoices.seller) !== null }
      })
    ),
    Operation.make(
      "invoice/give-up",
      Schema.Struct({ number: Schema.String, as: Schema.Literals(["void", "uncollectible"]) }),
      ({ as, number }) => Effect.map(invoices.give(number, as), ({ id, status }) => ({ id, number, status }))
    )
  ]
})
