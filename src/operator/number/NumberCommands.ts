import { asFields, type Command, file } from "../Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "number show",
    does: "shows whose number it is, and its state",
    positionals: ["number"],
    options: {},
    usage: "",
    operation: "number/show",
    body: (args) => ({ phone_number: args.positional("number") }),
    print: asFields
  },
  {
    words: "number release",
    does: "takes a number from its tenant, back to the inventory; live calls go on",
    positionals: ["number"],
    options: { reason: "value" },
    usage: "[--reason TEXT]",
    operation: "number/release",
    body: (args) => ({ phone_number: args.positional("number"), reason: args.text("reason") }),
    print: asFields
  },
  {
    words: "numbers import",
    does:
      "adds numbers to the inventory from CSV, all or none: phone_number,country_code,number_type,national_destination_code," +
      "region,locality,rate_center,features,upfront_cost_cents,monthly_cost_cents",
    positionals: ["csv"],
    options: {},
    usage: "",
    operation: "numbers/import",
    body: async (args) => ({ csv: await file(args.positional("csv")) }),
    print: asFields
  }
]
