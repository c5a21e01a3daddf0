import { readFile } from "node:fs/promises"
import { text as readAll } from "node:stream/consumers"
import { type Arguments, type Options, UsageError } from "./Arguments.ts"
import type * as Download from "./Download.ts"
import { fields, table } from "./TextTable.ts"

/** A command of the operator: what it takes, what it asks the service, and how the answer reads. */
export interface Command {
  /** The words that name it, e.g. `tenant credit`. */
  readonly words: string
  readonly does: string
  readonly positionals: ReadonlyArray<string>
  /** Those that may follow; the usage line names them. */
  readonly optional?: ReadonlyArray<string>
  readonly options: Options
  /** Behind the positionals in its usage line. */
  readonly usage: string
  /** Path behind `/operator/` (see `Operation.ts`). */
  readonly operation: string
  /** Undefined fields are not sent. */
  readonly body: (args: Arguments) => unknown
  readonly print: (answer: never, args: Arguments) => string
  /** The answer is a stream, and goes into this new file (`Download.ts`). */
  readonly savesTo?: (args: Arguments) => string
  /** What streams; absent: lines. */
  readonly saves?: Download.Kind
  /** False: the answer shows something wrong, and the exit code says so. */
  readonly isSound?: (answer: never) => boolean
}

type Row = Readonly<Record<string, unknown>>
interface Rows {
  readonly results: ReadonlyArray<Row>
}

/** A table with these columns of the answer's `results`. */
export const rowsOf =
  (...columns: ReadonlyArray<string>) =>
  ({ results }: Rows) =>
    table(columns, results)
/** The same for a page, with how to go on. */
export const pageOf =
  (...columns: ReadonlyArray<string>) =>
  ({ next, results }: Rows & { readonly next: string | null }) =>
    table(columns, results) + (next === null ? "" : `\n\nmore: --after ${next}`)
export const asFields = (answer: Row) => fields(answer)

/** `-` is standard input. */
export const file = async (path: string): Promise<string> => {
  try {
    return path === "-" ? await readAll(process.stdin) : await readFile(path, "utf8")
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** `--password` shows in the process list; from standard input it does not. */
export const password = async (args: Arguments): Promise<string | undefined> => {
  const given = args.text("password")
  if (!args.flag("password-stdin")) return given
  if (given !== undefined) throw new UsageError("--password and --password-stdin exclude each other")
  return (await readAll(process.stdin)).replace(/\r?\n$/, "")
}

export const oneTenant = { positionals: ["id|slug"], options: {}, usage: "" } as const
export const tenant = (args: Arguments) => args.positional("id|slug")
