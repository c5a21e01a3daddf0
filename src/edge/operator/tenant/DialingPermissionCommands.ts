import { asFields, type Command, rowsOf } from "../command/Command.ts"

const dialingPermission = (
  kind: "block-country" | "allow-country" | "block-prefix" | "block-class",
  does: string,
  positional: string
): Command => ({
  words: `destinations ${kind}`,
  does,
  positionals: [positional],
  options: { tenant: "value" },
  usage: "[--tenant ID|SLUG]",
  operation: `destinations/${kind}`,
  body: (args) => ({ value: args.positional(positional), tenant: args.text("tenant") }),
  print: asFields
})

export const commands: ReadonlyArray<Command> = [
  dialingPermission(
    "block-country",
    "refuses calls to a country (ISO 3166 code), for all tenants or for one",
    "country"
  ),
  dialingPermission("allow-country", "refuses calls to every country but those allowed", "country"),
  dialingPermission("block-prefix", "refuses calls to numbers that begin so (E.164 with its +)", "prefix"),
  dialingPermission(
    "block-class",
    "refuses calls to a class of numbers: satellite, premium_rate, shared_cost, or unknown (in no numbering plan)",
    "class"
  ),
  {
    words: "destinations remove",
    does: "takes one rule away",
    positionals: ["id"],
    options: {},
    usage: "",
    operation: "destinations/remove",
    body: (args) => ({ id: args.positional("id") }),
    print: asFields
  },
  {
    words: "destinations list",
    does: "lists the rules; with a tenant, those that hold for it",
    positionals: [],
    options: { tenant: "value" },
    usage: "[--tenant ID|SLUG]",
    operation: "destinations/list",
    body: (args) => ({ tenant: args.text("tenant") }),
    print: rowsOf("id", "kind", "value", "tenant_id")
  }
]
