import type { Arguments } from "../command/Arguments.ts"
import { asFields, type Command, rowsOf } from "../command/Command.ts"

const one = {
  positionals: ["host|.domain|network"],
  options: { reason: "value" },
  usage: "[--reason TEXT]",
  body: (args: Arguments) => ({ value: args.positional("host|.domain|network"), reason: args.text("reason") }),
  print: asFields
} as const

export const commands: ReadonlyArray<Command> = [
  {
    words: "targets allow",
    does: "lets URLs of tenants lead there; once something is allowed, nothing else is",
    ...one,
    operation: "targets/allow"
  },
  {
    words: "targets deny",
    does: "refuses URLs of tenants that lead there, stored ones too, whatever is allowed",
    ...one,
    operation: "targets/deny"
  },
  {
    words: "targets remove",
    does: "removes the rule for this host, domain or network",
    positionals: ["host|.domain|network"],
    options: {},
    usage: "",
    operation: "targets/remove",
    body: (args) => ({ value: args.positional("host|.domain|network") }),
    print: asFields
  },
  {
    words: "targets list",
    does: "lists the rules for URLs of tenants",
    positionals: [],
    options: {},
    usage: "",
    operation: "targets/list",
    body: () => ({}),
    print: rowsOf("verdict", "value", "created_at", "reason")
  }
]
