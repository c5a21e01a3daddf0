import { parseArgs } from "node:util"

/** The command line is wrong; one line that says how. */
export class UsageError extends Error {}

/** `value`: takes one; `flag`: stands alone. */
export type Options = Readonly<Record<string, "value" | "flag">>

/** The arguments behind the words of a command. Each reader fails with a `UsageError` that names the option. */
export interface Arguments {
  readonly positional: (name: string) => string
  /** A positional argument that may be missing. */
  readonly optional: (name: string) => string | undefined
  readonly text: (option: string) => string | undefined
  readonly required: (option: string) => string
  readonly integer: (option: string) => number | undefined
  /** A whole number, or null for the word that stands for none. */
  readonly integerOrNone: (option: string, none?: string) => number | null | undefined
  readonly onOff: (option: string) => boolean | undefined
  readonly flag: (option: string) => boolean
}

const integerForm = /^-?[0-9]{1,15}$/

/** `required`: the positional arguments; `optional`: those that may follow. Repeated options are refused. */
export const read = (
  args: ReadonlyArray<string>,
  required: ReadonlyArray<string>,
  options: Options,
  optional: ReadonlyArray<string> = []
): Arguments => {
  const names = [...required, ...optional]
  const { positionals, values } = parse(args, options)
  if (positionals.length > names.length) throw new UsageError(`unexpected argument "${positionals[names.length]}"`)
  const missing = required[positionals.length]
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`)

  const given = (option: string) => {
    const all = values[option] ?? []
    if (all.length > 1) throw new UsageError(`--${option} is given twice`)
    return all[0]
  }
  const text = (option: string) => {
    const value = given(option)
    if (value === "") throw new UsageError(`--${option} is empty`)
    return typeof value === "string" ? value : undefined
  }
  const whole = (option: string, value: string) => {
    if (!integerForm.test(value)) throw new UsageError(`--${option} must be a whole number, not "${value}"`)
    return Number(value)
  }
  return {
    positional: (name) => positionals[names.indexOf(name)] ?? "",
    optional: (name) => positionals[names.indexOf(name)],
    text,
    required: (option) => {
      const value = text(option)
      if (value === undefined) throw new UsageError(`--${option} is missing`)
      return value
    },
    integer: (option) => {
      const value = text(option)
      return value === undefined ? undefined : whole(option, value)
    },
    integerOrNone: (option, none = "none") => {
      const value = text(option)
      return value === undefined ? undefined : value === none ? null : whole(option, value)
    },
    onOff: (option) => {
      const value = text(option)
      if (value !== undefined && value !== "on" && value !== "off")
        throw new UsageError(`--${option} must be on or off, not "${value}"`)
      return value === undefined ? undefined : value === "on"
    },
    flag: (option) => given(option) === true
  }
}

const parse = (args: ReadonlyArray<string>, options: Options) => {
  try {
    const { positionals, values } = parseArgs({
      args: joined(args, options),
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, kind]) => [
          name,
          { type: kind === "flag" ? ("boolean" as const) : ("string" as const), multiple: true as const }
        ])
      )
    })
    return { positionals, values: values as Readonly<Record<string, ReadonlyArray<string | boolean> | undefined>> }
  } catch (cause) {
    // Behind the first sentence, its messages give advice about `--`.
    throw new UsageError(cause instanceof Error ? (cause.message.split(/\. |\n/)[0] ?? cause.message) : String(cause))
  }
}

/** `--cents -500` as `--cents=-500`: a negative number is no option, but `parseArgs` calls it ambiguous. */
const joined = (args: ReadonlyArray<string>, options: Options): Array<string> => {
  const out: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    const next = args[at + 1]
    if (arg.startsWith("--") && options[arg.slice(2)] === "value" && next !== undefined && integerForm.test(next)) {
      out.push(`${arg}=${next}`)
      at++
    } else out.push(arg)
  }
  return out
}
