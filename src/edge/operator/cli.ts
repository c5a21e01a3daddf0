/** `npm run operator -- <command>`: asks the running service through its loopback port. */
import { fileURLToPath } from "node:url"
import * as Printable from "../../domain/schema/Printable.ts"
import * as Arguments from "./command/Arguments.ts"
import type { Command } from "./command/Command.ts"
import { commands } from "./command/Commands.ts"
import * as DoorClient from "./command/DoorClient.ts"
import * as Download from "./command/Download.ts"

/** What the command's exit code says. */
export const exits = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const usageOf = ({ positionals, usage, words }: Command): string =>
  [words, ...positionals.map((name) => `<${name}>`), usage].filter((part) => part !== "").join(" ")

const help = [
  "npm run operator -- <command> [--json]",
  "",
  ...commands.map((command) => `  ${usageOf(command)}\n      ${command.does}`),
  "",
  "Talks to the running service at 127.0.0.1:OPERATOR_PORT (8081) with the token in DATA_DIR (data), or to OPERATOR_URL",
  "with OPERATOR_TOKEN. --json prints the service's answer as it came. A file named - is standard input.",
  `Exit codes: ${exits.done} done, ${exits.refused} refused (or what it shows is wrong), ${exits.usage} wrong command line, ` +
    `${exits.unreachable} service not reached.`
].join("\n")

const find = (args: ReadonlyArray<string>): Command => {
  const found = commands.find(({ words }) => args.slice(0, words.split(" ").length).join(" ") === words)
  if (found !== undefined) return found
  const family = commands.filter(({ words }) => words.split(" ")[0] === args[0]).map(({ words }) => words)
  throw new Arguments.UsageError(
    family.length > 0 ? `which of: ${family.join(", ")}?` : `no command "${args[0]}"; "help" lists them`
  )
}

/** Runs one command line; never throws. Nothing of what it says drives the terminal, whoever wrote it. */
export const run = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Promise<Outcome> => {
  const { code, stderr, stdout } = await outcome(args, environment)
  return { code, stdout: Printable.lines(stdout), stderr: Printable.neutral(stderr) }
}

const outcome = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Promise<Outcome> => {
  const [first] = args
  if (first === undefined || first === "help" || args.includes("--help"))
    return { code: first === undefined ? exits.usage : exits.done, stdout: help, stderr: "" }
  try {
    const command = find(args)
    const rest = args.slice(command.words.split(" ").length)
    const read = Arguments.read(rest, command.positionals, { ...command.options, json: "flag" }, command.optional)
    // The table pairs each operation with the shape of its answer; both ends are in this room, and tested together.
    const body = await command.body(read)
    const path = command.savesTo?.(read)
    const answer = (await (path === undefined
      ? DoorClient.ask(environment, command.operation, body)
      : DoorClient.stream(environment, command.operation, body, (bytes) =>
          Download.save(bytes, path, command.saves ?? "lines")
        ))) as never
    const sound = command.isSound?.(answer) ?? true
    return {
      code: sound ? exits.done : exits.refused,
      stdout: read.flag("json") ? JSON.stringify(answer, null, 2) : command.print(answer, read),
      stderr: ""
    }
  } catch (cause) {
    if (cause instanceof Arguments.UsageError) return { code: exits.usage, stdout: "", stderr: cause.message }
    if (cause instanceof DoorClient.ServiceError)
      return { code: exits.refused, stdout: "", stderr: `${cause.message} (${cause.code})` }
    if (cause instanceof DoorClient.Unreachable) return { code: exits.unreachable, stdout: "", stderr: cause.message }
    return { code: exits.refused, stdout: "", stderr: cause instanceof Error ? cause.message : String(cause) }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { code, stderr, stdout } = await run(process.argv.slice(2), process.env)
  if (stdout !== "") process.stdout.write(`${stdout}\n`)
  if (stderr !== "") process.stderr.write(`operator: ${stderr}\n`)
  process.exitCode = code
}
