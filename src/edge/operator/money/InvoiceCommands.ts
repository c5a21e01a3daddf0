import type { Arguments } from "../command/Arguments.ts"
import { asFields, type Command } from "../command/Command.ts"

const partyOptions = { name: "value", address: "value", "tax-id": "value", email: "value" } as const
const partyUsage = '--name NAME --address "LINE; LINE" [--tax-id ID] [--email ADDRESS]'
const party = (args: Arguments) => ({
  name: args.required("name"),
  address: args
    .required("address")
    .split(";")
    .map((line) => line.trim())
    .filter((line) => line !== ""),
  tax_id: args.text("tax-id"),
  email: args.text("email")
})

export const commands: ReadonlyArray<Command> = [
  {
    words: "invoice seller",
    does: "says who sells, on invoices from now on; none is issued before",
    positionals: [],
    options: partyOptions,
    usage: partyUsage,
    operation: "invoice/seller",
    body: party,
    print: asFields
  },
  {
    words: "invoice buyer",
    does: "says to whom the invoices of a tenant go, from now on; else they have the name from its signup",
    positionals: ["id|slug"],
    options: partyOptions,
    usage: partyUsage,
    operation: "invoice/buyer",
    body: (args) => ({ tenant: args.positional("id|slug"), ...party(args) }),
    print: asFields
  },
  {
    words: "invoice issue",
    does: "issues what is due; the service does it by itself, within hours of the end of a month",
    positionals: [],
    options: {},
    usage: "",
    operation: "invoice/issue",
    body: () => ({}),
    print: asFields
  },
  {
    words: "invoice give-up",
    does: "makes an open invoice void, or uncollectible",
    positionals: ["number"],
    options: { as: "value" },
    usage: "--as void|uncollectible",
    operation: "invoice/give-up",
    body: (args) => ({ number: args.positional("number"), as: args.required("as") }),
    print: asFields
  }
]
