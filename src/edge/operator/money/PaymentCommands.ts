import { asFields, type Command, rowsOf } from "../command/Command.ts"

interface Reconciled {
  readonly exceptions: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export const commands: ReadonlyArray<Command> = [
  {
    words: "payment list",
    does: "lists the attempts to charge a tenant's cards, the newest first",
    positionals: [],
    options: { tenant: "value", limit: "value" },
    usage: "--tenant ID|SLUG [--limit 50]",
    operation: "payment/list",
    body: (args) => ({ tenant: args.required("tenant"), limit: args.integer("limit") }),
    print: rowsOf(
      "created_at",
      "kind",
      "amount_cents",
      "status",
      "failure_code",
      "processor",
      "intent_id",
      "settled_at",
      "id"
    )
  },
  {
    words: "payment refund",
    does: "refunds a top-up to its card, in part or what is left of it; the balance may go below zero",
    positionals: ["svc_ledger_…"],
    options: { cents: "value", reason: "value" },
    usage: "[--cents N] [--reason TEXT]",
    operation: "payment/refund",
    body: (args) => ({
      attempt: args.positional("svc_ledger_…"),
      cents: args.integer("cents"),
      reason: args.text("reason")
    }),
    print: asFields,
    isSound: ({ status }: { readonly status: string }) => status !== "failed"
  },
  {
    words: "payment reconcile",
    does: "asks the card processor what has moved, books what the ledger lacks, and shows what differs",
    positionals: [],
    options: { tenant: "value", since: "value" },
    usage: "[--tenant ID|SLUG] [--since TIME]",
    operation: "payment/reconcile",
    body: (args) => ({ tenant: args.text("tenant"), since: args.text("since") }),
    print: ({ exceptions, ...sums }: Reconciled) =>
      asFields(sums) +
      (exceptions.length === 0
        ? ""
        : `\n\n${rowsOf("tenant_id", "attempt_id", "intent_id", "processor_cents", "ledger_cents")({ results: exceptions })}`),
    isSound: ({ exceptions }: Reconciled) => exceptions.length === 0
  }
]
