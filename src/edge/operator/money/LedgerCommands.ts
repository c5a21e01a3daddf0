import { asFields, type Command, pageOf } from "../command/Command.ts"
import { fields, table } from "../command/TextTable.ts"

interface Verified {
  readonly faults: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export const commands: ReadonlyArray<Command> = [
  {
    words: "ledger list",
    does: "lists the entries of a tenant's ledger, the newest first",
    positionals: [],
    options: { tenant: "value", "created-after": "value", "created-before": "value", limit: "value", after: "value" },
    usage: "--tenant ID|SLUG [--created-after TIME] [--created-before TIME] [--limit 50] [--after NEXT]",
    operation: "ledger/list",
    body: (args) => ({
      tenant: args.required("tenant"),
      created_after: args.text("created-after"),
      created_before: args.text("created-before"),
      limit: args.integer("limit"),
      after: args.text("after")
    }),
    print: pageOf("created_at", "type", "amount_cents", "balance_after_cents", "description", "reference_id", "id")
  },
  {
    words: "ledger export",
    does: "writes the whole ledger of a tenant into a new file (JSON lines, gzip), the oldest first, with its sum at the end",
    positionals: ["file"],
    options: { tenant: "value" },
    usage: "--tenant ID|SLUG",
    operation: "ledger/export",
    body: (args) => ({ tenant: args.required("tenant") }),
    savesTo: (args) => args.positional("file"),
    print: (answer: { readonly file: string; readonly bytes: number }) => `${answer.file}: ${answer.bytes} bytes`
  },
  {
    words: "ledger verify",
    does: "reads ledgers from their first entry on, against seals, balances, calls and the card processor; fails where something does not add up",
    positionals: [],
    options: { tenant: "value" },
    usage: "[--tenant ID|SLUG]",
    operation: "ledger/verify",
    body: (args) => ({ tenant: args.text("tenant") }),
    print: ({ faults, ...rest }: Verified) =>
      [fields(rest), faults.length === 0 ? "all adds up" : table(["tenant_id", "code", "message"], faults)].join(
        "\n\n"
      ),
    isSound: ({ faults }: Verified) => faults.length === 0
  },
  {
    words: "ledger seal",
    does: "seals what was booked, where the day is not sealed yet; the service does it by itself once a day",
    positionals: [],
    options: {},
    usage: "",
    operation: "ledger/seal",
    body: () => ({}),
    print: asFields
  }
]
