/** `npm run operator -- <command>`: asks the running service through its loopback port. */
import { fileURLToPath } from "node:url"
import * as ProcessEnd from "../../runtime/process/ProcessEnd.ts"
import * as Printable from "../../domain/schema/Printable.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import * as Command from "./command/Command.ts"
import * as CommandLine from "./command/CommandLine.ts"
import * as Commands from "./command/Commands.ts"
import * as DoorClient from "./command/DoorClient.ts"
import * as Download from "./command/Download.ts"
import * as Flag from "./command/Flag.ts"

const exits = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const json = { json: Flag.on("prints the service's answer as it came") }

const closing = [
  "Talks to the running service at 127.0.0.1:OPERATOR_PORT (8081) with the token in DATA_DIR (data), or to OPERATOR_URL",
  "with OPERATOR_TOKEN. --json prints the service's answer as it came. A file named - is standard input.",
  "Audit lines name the person with the token (operator add), or else OPERATOR_NAME, or the user who runs the command.",
  `Exit codes: ${exits.done} done, ${exits.refused} refused (or what it shows is wrong), ${exits.usage} wrong command line, ` +
    `${exits.unreachable} service not reached.`
].join("\n")

/** The page of the one command that is named, or the list of all. */
const help = async (words: ReadonlyArray<string>): Promise<string> => {
  const commands = await Commands.all()
  const named = commands.find((command) => isNamed(command, words))
  if (named !== undefined) return CommandLine.page(named)
  return [
    "npm run operator -- <command> [--json]",
    "",
    ...commands.map((command) => `  ${CommandLine.usage(command)}\n      ${command.summary}`),
    "",
    "<command> --help shows one of them with its flags.",
    closing
  ].join("\n")
}

const isNamed = ({ words }: Command.Command, args: ReadonlyArray<string>): boolean =>
  args.slice(0, words.split(" ").length).join(" ") === words

const find = async (args: ReadonlyArray<string>): Promise<Command.Command> => {
  const family = await Commands.startingWith(args[0] ?? "")
  const found = family.find((command) => isNamed(command, args))
  if (found !== undefined) return found
  throw new CommandLine.UsageError(
    family.length > 0
      ? `which of: ${family.map(({ words }) => words).join(", ")}?`
      : `no command "${args[0]}"; "help" lists them`
  )
}

/** Runs one command line; never throws. No text of others in the outcome can drive the terminal. */
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
  try {
    if (first === undefined || first === "help" || args.includes("--help")) {
      const words = args.filter((arg) => arg !== "help" && arg !== "--help")
      return { code: first === undefined ? exits.usage : exits.done, stdout: await help(words), stderr: "" }
    }
    const command = await find(args)
    const { json: asJson, ...given }: Readonly<Record<string, unknown>> = await CommandLine.read(
      args.slice(command.words.split(" ").length),
      { ...CommandLine.fieldsOf(command), ...json },
      command.oneOf
    )
    const route = Command.route(command)
    const body = Object.fromEntries(
      Object.keys(command.input).flatMap((name) => (name in given ? [[Wire.snake(name), given[name]]] : []))
    )
    const { saves } = command
    if (saves !== null) await Download.isFree(String(given["file"]))
    const answer = await (saves === null
      ? DoorClient.ask(environment, route, body)
      : DoorClient.stream(environment, route, body, (bytes) => Download.save(bytes, String(given["file"]), saves)))
    return {
      code: command.isSound(answer as never) ? exits.done : exits.refused,
      stdout: asJson === true ? JSON.stringify(answer, null, 2) : command.print(answer as never, given as never),
      stderr: ""
    }
  } catch (cause) {
    if (cause instanceof CommandLine.UsageError) return { code: exits.usage, stdout: "", stderr: cause.message }
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
  // A command ends when its output is read, whatever it still has open.
  ProcessEnd.after(code, Infinity)
}
