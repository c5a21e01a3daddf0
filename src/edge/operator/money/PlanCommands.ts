import { asFields, type Command, rowsOf } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "plan set",
    does: "makes or changes a plan; only with --public can tenants choose it",
    positionals: ["slug"],
    options: {
      name: "value",
      description: "value",
      fee: "value",
      include: "value",
      "concurrent-calls": "value",
      "conference-participants": "value",
      public: "flag"
    },
    usage:
      "--name NAME --fee CENTS [--description TEXT] [--include billed_minutes=1000,lookups=50] [--concurrent-calls N] [--conference-participants N] [--public]",
    operation: "plan/set",
    body: (args) => ({
      slug: args.positional("slug"),
      name: args.required("name"),
      description: args.text("description"),
      fee: args.integer("fee") ?? 0,
      include: args.text("include"),
      concurrent_calls: args.integer("concurrent-calls"),
      conference_participants: args.integer("conference-participants"),
      public: args.flag("public")
    }),
    print: asFields
  },
  {
    words: "plan list",
    does: "lists all plans",
    positionals: [],
    options: {},
    usage: "",
    operation: "plan/list",
    body: () => ({}),
    print: rowsOf("slug", "name", "monthly_fee_cents", "is_public", "included")
  }
]
