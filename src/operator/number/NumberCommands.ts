import { asFields, type Command, file } from "../Command.ts"

export const commands: ReadonlyArray<Command> = [
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
