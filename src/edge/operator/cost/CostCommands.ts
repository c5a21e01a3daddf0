import { asFields, type Command, file, rowsOf } from "../command/Command.ts"

type Row = Readonly<Record<string, unknown>>

const margins = rowsOf(
  "group",
  "name",
  "calls",
  "minutes",
  "debited_micro_usd",
  "cost_micro_usd",
  "margin_micro_usd",
  "unknown_calls",
  "unknown_debited_micro_usd"
)

/** Null: it is not known. */
const said = (row: Row): Row => ({
  ...row,
  cost_micro_usd: row["cost_micro_usd"] ?? "unknown",
  margin_micro_usd: row["margin_micro_usd"] ?? "unknown"
})

export const commands: ReadonlyArray<Command> = [
  {
    words: "cost import",
    does: "says what a trunk costs us, from CSV, now or from a moment on: direction,prefix,micro_usd_per_minute",
    positionals: ["route-id|host", "csv"],
    options: { effective: "value" },
    usage: "[--effective TIME]",
    operation: "cost/import",
    body: async (args) => ({
      trunk: args.positional("route-id|host"),
      csv: await file(args.positional("csv")),
      effective: args.text("effective")
    }),
    print: asFields
  },
  {
    words: "cost list",
    does: "lists the cost decks of all trunks, or shows one",
    positionals: [],
    options: { deck: "value" },
    usage: "[--deck N]",
    operation: "cost/list",
    body: (args) => ({ deck: args.integer("deck") }),
    print: (answer: Parameters<typeof margins>[0], args) =>
      (args.integer("deck") === undefined
        ? rowsOf("deck", "trunk", "effective_at", "imported_at", "rows")
        : rowsOf("direction", "prefix", "micro_usd_per_minute"))(answer)
  },
  {
    words: "margin",
    does: "shows what the minutes of ended calls were charged, what they cost us, and the difference",
    positionals: [],
    options: { from: "value", to: "value", by: "value" },
    usage: "--from TIME --to TIME [--by tenant|trunk|destination]",
    operation: "margin",
    body: (args) => ({ from: args.required("from"), to: args.required("to"), by: args.text("by") }),
    print: ({ results, ...answer }: Parameters<typeof margins>[0]) => margins({ ...answer, results: results.map(said) })
  }
]
