import { asFields, type Command, file, rowsOf } from "../command/Command.ts"

const differences = rowsOf("direction", "prefix", "from", "to")

export const commands: ReadonlyArray<Command> = [
  {
    words: "rates import",
    does: "replaces the rate deck from CSV, all or none, now or from a moment on: direction,prefix,micro_usd_per_minute",
    positionals: ["csv"],
    options: { effective: "value", "dry-run": "flag" },
    usage: "[--effective TIME] [--dry-run]",
    operation: "rates/import",
    body: async (args) => ({
      csv: await file(args.positional("csv")),
      effective: args.text("effective"),
      dry_run: args.flag("dry-run")
    }),
    print: asFields
  },
  {
    words: "rates diff",
    does: "shows what a CSV would change of the deck that holds now, or at a moment; the first 1,000 rows",
    positionals: ["csv"],
    options: { effective: "value" },
    usage: "[--effective TIME]",
    operation: "rates/diff",
    body: async (args) => ({ csv: await file(args.positional("csv")), effective: args.text("effective") }),
    print: (answer: Parameters<typeof differences>[0] & { readonly changed_rows: number }) =>
      `${differences(answer)}\n\nchanged rows: ${answer.changed_rows}`
  },
  {
    words: "rates list",
    does: "shows the rate deck that holds now, or one of the history",
    positionals: [],
    options: { deck: "value" },
    usage: "[--deck N]",
    operation: "rates/list",
    body: (args) => ({ deck: args.integer("deck") }),
    print: rowsOf("direction", "prefix", "micro_usd_per_minute")
  },
  {
    words: "rates history",
    does: "lists the rate decks that held, the one that holds, and those that will",
    positionals: [],
    options: {},
    usage: "",
    operation: "rates/history",
    body: () => ({}),
    print: rowsOf("deck", "status", "effective_at", "imported_at", "rows")
  },
  {
    words: "rates cancel",
    does: "takes back a rate deck that does not hold yet",
    positionals: ["deck"],
    options: {},
    usage: "",
    operation: "rates/cancel",
    body: (args) => ({ deck: Number(args.positional("deck")) }),
    print: asFields
  },
  {
    words: "prices set",
    does: "sets what work on a call costs: recording, transcription or (of each member) conference a minute, machine_detection a check; and lookup a number",
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
