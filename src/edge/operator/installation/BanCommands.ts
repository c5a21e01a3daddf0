import { asFields, type Command, rowsOf } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "ban list",
    does: "lists whom SIP does not hear: your bans, and automatic ones of loud strangers",
    positionals: [],
    options: {},
    usage: "",
    operation: "ban/list",
    body: () => ({}),
    print: rowsOf("network", "by", "created_at", "expires_at", "reason")
  },
  {
    words: "ban add",
    does: "hears nobody of an address or network (10.1.2.0/24) on SIP; trunks are heard nevertheless",
    positionals: ["network"],
    options: { reason: "value", secs: "value" },
    usage: "[--reason TEXT] [--secs N]",
    operation: "ban/add",
    body: (args) => ({
      network: args.positional("network"),
      reason: args.text("reason") ?? "",
      for_secs: args.integer("secs")
    }),
    print: asFields
  },
  {
    words: "ban remove",
    does: "takes a ban back, also automatic ones within the network",
    positionals: ["network"],
    options: {},
    usage: "",
    operation: "ban/remove",
    body: (args) => ({ network: args.positional("network") }),
    print: asFields
  },
  {
    words: "ban loud",
    does: "shows the ten loudest strangers of the last 10 to 20 seconds",
    positionals: [],
    options: {},
    usage: "",
    operation: "ban/loud",
    body: () => ({}),
    print: rowsOf("source", "messages")
  }
]
