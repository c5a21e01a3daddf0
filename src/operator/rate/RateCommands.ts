import { asFields, type Command, file, rowsOf } from "../Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "rates import",
    does: "replaces the rate deck from CSV, all or none: direction,prefix,micro_usd_per_minute",
    positionals: ["csv"],
    options: {},
    usage: "",
    operation: "rates/import",
    body: async (args) => ({ csv: await file(args.positional("csv")) }),
    print: asFields
  },
  {
    words: "rates list",
    does: "shows the rate deck",
    positionals: [],
    options: {},
    usage: "",
    operation: "rates/list",
    body: () => ({}),
    print: rowsOf("direction", "prefix", "micro_usd_per_minute")
  }
]
