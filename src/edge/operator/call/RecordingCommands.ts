import { asFields, type Command } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "recording restore",
    does: "brings an archived recording back, so that its tenant can download it again",
    positionals: ["id"],
    options: {},
    usage: "",
    operation: "recording/restore",
    body: (args) => ({ recording_id: args.positional("id") }),
    print: asFields
  }
]
