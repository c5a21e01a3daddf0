import { asFields, type Command, password, rowsOf } from "../Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "route add",
    does: "adds a SIP trunk; --default makes it the tenant's default route",
    positionals: [],
    options: {
      tenant: "value",
      name: "value",
      host: "value",
      port: "value",
      user: "value",
      password: "value",
      "password-stdin": "flag",
      default: "flag"
    },
    usage:
      "--tenant ID|SLUG --name NAME --host HOST [--port 5060] [--user USER --password PASSWORD|--password-stdin] [--default]",
    operation: "route/add",
    body: async (args) => ({
      tenant: args.required("tenant"),
      name: args.required("name"),
      host: args.required("host"),
      port: args.integer("port"),
      username: args.text("user"),
      password: await password(args),
      is_default: args.flag("default")
    }),
    print: asFields
  },
  {
    words: "route list",
    does: "lists the routes of a tenant",
    positionals: [],
    options: { tenant: "value" },
    usage: "--tenant ID|SLUG",
    operation: "route/list",
    body: (args) => ({ tenant: args.required("tenant") }),
    print: rowsOf("id", "name", "adapter", "host", "port", "username", "is_default", "status")
  }
]
