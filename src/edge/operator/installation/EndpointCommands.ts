import { asFields, type Command, rowsOf } from "../command/Command.ts"

const one = { positionals: ["id"], options: {}, usage: "" } as const

export const commands: ReadonlyArray<Command> = [
  {
    words: "endpoint list",
    does: "lists webhook subscriptions of a tenant or of all, those that have failed longest first",
    positionals: [],
    options: { tenant: "value", failing: "flag" },
    usage: "[--tenant ID|SLUG] [--failing]",
    operation: "endpoint/list",
    body: (args) => ({ tenant: args.text("tenant"), failing: args.flag("failing") }),
    print: rowsOf("id", "tenant", "is_active", "failing_since", "failed_attempts", "event_types", "target_url")
  },
  {
    words: "endpoint disable",
    does: "disables a webhook subscription; what waits for it fails",
    positionals: ["id"],
    options: { reason: "value" },
    usage: "[--reason TEXT]",
    operation: "endpoint/disable",
    body: (args) => ({ id: args.positional("id"), reason: args.text("reason") }),
    print: asFields
  },
  {
    words: "endpoint enable",
    does: "enables a webhook subscription; nothing is sent again",
    ...one,
    operation: "endpoint/enable",
    body: (args) => ({ id: args.positional("id") }),
    print: asFields
  },
  {
    words: "delivery resend",
    does: "makes a webhook delivery that has finished again",
    ...one,
    operation: "delivery/resend",
    body: (args) => ({ id: args.positional("id") }),
    print: asFields
  }
]
