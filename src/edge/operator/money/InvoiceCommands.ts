import { Effect, Schema } from "effect"
import * as Name from "../../../domain/schema/Name.ts"
import { Invoices } from "../../../money/invoice/Invoice.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

/** One printed line, without control characters. */
const Text = Schema.String.check(Schema.isPattern(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u), Name.isVisible)

const party = {
  name: Flag.of(Text, "the name on invoices"),
  address: Flag.of(
    Schema.Array(Text).check(Schema.isMinLength(1), Schema.isMaxLength(8)),
    "the lines of the address, with semicolons between them",
    {
      value: '"LINE; LINE"',
      read: (text) =>
        text
          .split(";")
          .map((line) => line.trim())
          .filter((line) => line !== "")
    }
  ),
  taxId: Flag.optional(Text, "the tax id on invoices", { value: "ID" }),
  email: Flag.optional(Text, "the address on invoices for questions", { value: "ADDRESS" })
}
const partyOf = <Given extends { readonly taxId?: string; readonly email?: string }>(given: Given) => ({
  ...given,
  taxId: given.taxId ?? null,
  email: given.email ?? null
})

const printed = ({ address, name }: { readonly name: string; readonly address: ReadonlyArray<string> }) => ({
  name,
  address: address.join(", ")
})

/** guide/operation.md#invoices. */
export const commands = [
  Command.make("invoice seller", {
    summary: "says who sells, on invoices from now on; none is issued before",
    input: party,
    run: (given) => Invoices.use((invoices) => Effect.as(invoices.setSeller(partyOf(given)), printed(given)))
  }),
  Command.make("invoice buyer", {
    summary: "says to whom the invoices of a tenant go, from now on; else they have the name from its signup",
    input: { tenant: TenantReference.argument, ...party },
    run: TenantReference.within((id, given) =>
      Invoices.use((invoices) => Effect.as(invoices.setBuyer(id, partyOf(given)), { tenant: id, ...printed(given) }))
    )
  }),
  Command.make("invoice issue", {
    summary: "issues what is due; the service does it by itself, within hours of the end of a month",
    run: Effect.fnUntraced(function* () {
      const invoices = yield* Invoices
      yield* invoices.issue
      return { issued: (yield* invoices.seller) !== null }
    })
  }),
  Command.make("invoice give-up", {
    summary: "makes an open invoice void, or uncollectible",
    input: {
      number: Flag.argument("number", Schema.String, "the number on the invoice"),
      as: Flag.of(Schema.Literals(["void", "uncollectible"]), "what becomes of it")
    },
    run: Effect.fnUntraced(function* ({ as, number }) {
      const { id, status } = yield* (yield* Invoices).give(number, as)
      return { id, number, status }
    })
  })
]
