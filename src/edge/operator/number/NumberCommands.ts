import { UsageError } from "../command/Arguments.ts"
import { asFields, type Command, file } from "../command/Command.ts"

const reasoned = (word: string, does: string): Command => ({
  words: `number ${word}`,
  does,
  positionals: ["number"],
  options: { reason: "value" },
  usage: "[--reason TEXT]",
  operation: `number/${word}`,
  body: (args) => ({ phone_number: args.positional("number"), reason: args.text("reason") }),
  print: asFields
})

const onOff = (word: string): boolean => {
  if (word !== "on" && word !== "off") throw new UsageError(`say on or off, not "${word}"`)
  return word === "on"
}

export const commands: ReadonlyArray<Command> = [
  {
    words: "number show",
    does: "shows whose number it is, and its state",
    positionals: ["number"],
    options: {},
    usage: "",
    operation: "number/show",
    body: (args) => ({ phone_number: args.positional("number") }),
    print: asFields
  },
  {
    words: "number release",
    does: "takes a number from its tenant, who may order it again for 14 days; with --no-hold it may not. Live calls go on",
    positionals: ["number"],
    options: { reason: "value", "no-hold": "flag" },
    usage: "[--reason TEXT] [--no-hold]",
    operation: "number/release",
    body: (args) => ({
      phone_number: args.positional("number"),
      reason: args.text("reason"),
      is_held: !args.flag("no-hold")
    }),
    print: asFields
  },
  reasoned("ported-out", "says that another carrier has the number now; it leaves the inventory, too"),
  reasoned("suspend", "lets a number neither take nor place calls; live calls go on"),
  reasoned("resume", "ends what `number suspend` began"),
  {
    words: "number price",
    does: "sets what a tenant's number costs from its next month on",
    positionals: ["number", "monthly-cents"],
    options: {},
    usage: "",
    operation: "number/price",
    body: (args) => ({
      phone_number: args.positional("number"),
      monthly_cost_cents: Number(args.positional("monthly-cents"))
    }),
    print: asFields
  },
  {
    words: "number emergency",
    does: "says whether the number's emergency address is registered with the carrier, and shows the address",
    positionals: ["number", "on|off"],
    options: {},
    usage: "",
    operation: "number/emergency",
    body: (args) => ({ phone_number: args.positional("number"), is_enabled: onOff(args.positional("on|off")) }),
    print: asFields
  },
  {
    words: "numbers withdraw",
    does: "takes a number out of the inventory; whoever owns it keeps it",
    positionals: ["number"],
    options: {},
    usage: "",
    operation: "numbers/withdraw",
    body: (args) => ({ phone_numbers: [args.positional("number")] }),
    print: asFields
  },
  {
    words: "numbers import",
    does:
      "adds numbers to the inventory from CSV, all or none: phone_number,country_code,number_type,national_destination_code," +
      "region,locality,rate_center,features,upfront_cost_cents,monthly_cost_cents",
    positionals: ["csv"],
    options: {},
    usage: "",
    operation: "numbers/import",
    body: async (args) => ({ csv: await file(args.positional("csv")) }),
    print: asFields
  }
]
