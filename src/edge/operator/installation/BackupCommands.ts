import { UsageError } from "../command/Arguments.ts"
import { type Command, file } from "../command/Command.ts"

/** The first line of a file; nobody types a newline into a passphrase. */
export const passphrase = async (path: string): Promise<string> => {
  const [line = ""] = (await file(path)).split(/\r?\n/)
  if (line === "") throw new UsageError(`${path} holds no passphrase`)
  return line
}

export const commands: ReadonlyArray<Command> = [
  {
    words: "backup",
    does: "writes database and vault key, as they are at this moment, into a new file (gzip); calls go on",
    positionals: ["file"],
    options: { "passphrase-file": "value" },
    usage: "--passphrase-file <file|->",
    operation: "backup",
    body: async (args) => ({ passphrase: await passphrase(args.required("passphrase-file")) }),
    savesTo: (args) => args.positional("file"),
    print: (answer: { readonly file: string; readonly bytes: number }) =>
      `${answer.file}: ${answer.bytes} bytes. Who has this file has every number, event and key hash in it: guard it, ` +
      `and keep the passphrase elsewhere.`
  }
]
