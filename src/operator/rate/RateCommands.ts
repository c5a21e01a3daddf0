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
  },
  {
    words: "prices set",
    does: "sets what work on a call costs: recording or transcription a minute, machine_detection a check; and lookup a number",
    positionals: ["kind", "micro-usd"],
    options: {},
    usage: "",
    operation: "prices/set",
    body: (args) => ({ kind: args.positional("kind"), micro_usd: Number(args.positional("micro-usd")) }),
    print: asFields
  },
  {
    words: "prices list",
    does: "shows what work on a call, and a lookup, cost",
    positionals: [],
    options: {},
    usage: "",
    operation: "prices/list",
    body: () => ({}),
    print: rowsOf("kind", "micro_usd")
  }
]
