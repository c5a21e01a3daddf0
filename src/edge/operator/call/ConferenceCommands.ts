import { asFields, type Command, rowsOf } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "conference list",
    does: "lists the newest conferences of a tenant",
    positionals: [],
    options: { tenant: "value", status: "value", name: "value", limit: "value" },
    usage: "--tenant ID|SLUG [--status STATUS] [--name PART] [--limit 50]",
    operation: "conference/list",
    body: (args) => ({
      tenant: args.required("tenant"),
      status: args.text("status"),
      name: args.text("name"),
      limit: args.integer("limit")
    }),
    print: rowsOf("id", "name", "status", "host_call_id", "max_participants", "created_at", "started_at", "ended_at")
  },
  {
    words: "conference show",
    does: "a conference with its participants",
    positionals: ["id"],
    options: {},
    usage: "<id>",
    operation: "conference/show",
    body: (args) => ({ conference_id: args.positional("id") }),
    print: asFields
  },
  {
    words: "conference end",
    does: "closes a conference and hangs up its members",
    positionals: ["id"],
    options: {},
    usage: "<id>",
    operation: "conference/end",
    body: (args) => ({ conference_id: args.positional("id") }),
    print: asFields
  }
]
