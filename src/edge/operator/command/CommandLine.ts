import { parseArgs } from "node:util"
import { Schema, type SchemaAST } from "effect"
import * as Wire from "../../../domain/schema/Wire.ts"
import type { Command } from "./Command.ts"
import * as Flag from "./Flag.ts"

/** The command line is wrong; the message says how, in one line. */
export class UsageError extends Error {}

/** A field as the command line has it. */
interface Parameter {
  readonly name: string
  readonly isArgument: boolean
  /** The name of the argument or the flag, without brackets and dashes. */
  readonly title: string
  /** The placeholder of the value in the usage line; null for a flag that takes no value. */
  readonly value: string | null
  readonly description: string
  readonly isRequired: boolean
  readonly read: (text: string) => unknown
  readonly sets: boolean
  readonly instead: Readonly<Record<string, () => unknown>>
}

const label = ({ isArgument, title }: Pick<Parameter, "isArgument" | "title">): string =>
  isArgument ? `<${title}>` : `--${title}`

const parametersOf = (fields: Schema.Struct.Fields): ReadonlyArray<Parameter> =>
  Object.entries(fields).map(([name, schema]) => {
    const line = Flag.lineOf(schema)
    const ast = Schema.toEncoded(schema as Schema.Top).ast
    const title = line.argument ?? line.flag ?? Wire.snake(name).replaceAll("_", "-")
    const isArgument = line.argument !== undefined
    const { read, value } = valueOf(label({ isArgument, title }), title, ast, line)
    return {
      name,
      isArgument,
      title,
      value,
      description: Schema.resolveAnnotations(schema as Schema.Top)?.description ?? "",
      isRequired: ast.context?.isOptional !== true,
      read: line.read ?? read,
      sets: line.sets ?? true,
      instead: line.instead ?? {}
    }
  })

const integerForm = /^-?[0-9]{1,15}$/
const asItIs = (text: string): unknown => text

/** The placeholder of a value of this type, and the function that reads it. */
const valueOf = (
  named: string,
  title: string,
  ast: SchemaAST.AST,
  { none = "none", value, words }: Flag.Line
): { readonly value: string | null; readonly read: (text: string) => unknown } => {
  const integer = (text: string) => {
    if (!integerForm.test(text)) throw new UsageError(`${named} must be a whole number, not "${text}"`)
    return Number(text)
  }
  if (words !== undefined) {
    const known = Object.keys(words)
    const read = (text: string) => {
      if (!known.includes(text)) throw new UsageError(`${named} must be ${known.join(" or ")}, not "${text}"`)
      return words[text]
    }
    return { value: value ?? known.join("|"), read }
  }
  if (ast._tag === "Boolean") return { value: null, read: asItIs }
  if (ast._tag === "Number") return { value: value ?? "N", read: integer }
  if (ast._tag === "Arrays")
    return { value: value ?? "LIST", read: (text) => text.split(",").map((part) => part.trim()) }
  if (ast._tag === "Union") {
    const literals = ast.types.flatMap((type) => (type._tag === "Literal" ? [String(type.literal)] : []))
    if (literals.length > 0) {
      const all = literals.join("|")
      return { value: value ?? (all.length > 50 ? title.toUpperCase() : all), read: asItIs }
    }
    if (ast.types.some(({ _tag }) => _tag === "Number"))
      return { value: value ?? `N|${none}`, read: (text) => (text === none ? null : integer(text)) }
  }
  return { value: value ?? (title === "reason" ? "TEXT" : title.toUpperCase()), read: asItIs }
}

/** Reads the values of fields from a command line, by their names. A field that is not given is left out. */
export const read = async <F extends Schema.Struct.Fields>(
  args: ReadonlyArray<string>,
  fields: F,
  oneOf: Command["oneOf"] = []
): Promise<Schema.Struct<F>["Encoded"]> => {
  const parameters = parametersOf(fields)
  const { positionals, values } = parse(args, parameters)
  const names = parameters.filter(({ isArgument }) => isArgument)
  if (positionals.length > names.length) throw new UsageError(`unexpected argument "${positionals[names.length]}"`)

  const given = (flag: string) => {
    const all = values[flag] ?? []
    if (all.length > 1) throw new UsageError(`--${flag} is given twice`)
    return all[0]
  }
  const read: Record<string, unknown> = {}
  for (const parameter of parameters) {
    const { instead, isArgument, isRequired, name, sets, title, value } = parameter
    const typed = isArgument ? positionals[names.indexOf(parameter)] : given(title)
    if (typed === "" && !isArgument) throw new UsageError(`--${title} is empty`)
    const others = Object.entries(instead).filter(([flag]) => given(flag) === true)
    const forms = others.length + (typed === undefined ? 0 : 1)
    if (Object.keys(instead).length > 0 && (forms > 1 || (forms === 0 && isRequired))) {
      const all = [title, ...Object.keys(instead)].map((flag) => `--${flag}`)
      throw new UsageError(`${isRequired ? "" : "at most "}one of ${all.join(", ")} is wanted`)
    }
    const [other] = others
    if (other !== undefined) read[name] = await other[1]()
    else if (typeof typed === "string") read[name] = await parameter.read(typed)
    else if (typed === true && value === null) read[name] = sets
    else if (isRequired) throw new UsageError(`${label(parameter)} is missing`)
  }
  const either = parameters.filter(({ name }) => oneOf.includes(name))
  if (either.length > 0 && either.filter(({ name }) => name in read).length !== 1)
    throw new UsageError(`either ${either.map(label).join(" or ")} is wanted`)
  return read as Schema.Struct<F>["Encoded"]
}

const parse = (args: ReadonlyArray<string>, parameters: ReadonlyArray<Parameter>) => {
  const flags = parameters.filter(({ isArgument }) => !isArgument)
  const takesValue = new Set(flags.flatMap(({ title, value }) => (value === null ? [] : [title])))
  const names = flags.flatMap(({ instead, title }) => [title, ...Object.keys(instead)])
  try {
    const { positionals, values } = parseArgs({
      args: joined(args, takesValue),
      allowPositionals: true,
      options: Object.fromEntries(
        names.map((name) => [name, { type: takesValue.has(name) ? "string" : "boolean", multiple: true }] as const)
      )
    })
    return { positionals, values: values as Readonly<Record<string, ReadonlyArray<string | boolean> | undefined>> }
  } catch (cause) {
    // After its first sentence, the message gives advice about `--`.
    throw new UsageError(cause instanceof Error ? (cause.message.split(/\. |\n/)[0] ?? cause.message) : String(cause))
  }
}

/** Writes `--cents -500` as `--cents=-500`, because `parseArgs` calls a negative number after a flag ambiguous. */
const joined = (args: ReadonlyArray<string>, takesValue: ReadonlySet<string>): Array<string> => {
  const out: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    const next = args[at + 1]
    if (arg.startsWith("--") && takesValue.has(arg.slice(2)) && next !== undefined && integerForm.test(next)) {
      out.push(`${arg}=${next}`)
      at++
    } else out.push(arg)
  }
  return out
}

const withValue = (parameter: Parameter): string =>
  [
    parameter.isArgument || parameter.value === null ? label(parameter) : `${label(parameter)} ${parameter.value}`,
    ...Object.keys(parameter.instead).map((flag) => `--${flag}`)
  ].join("|")

export const fieldsOf = ({ input, local, saves }: Command): Schema.Struct.Fields => ({
  ...input,
  ...(saves === null ? {} : { file: Flag.argument("file", Schema.String, "the new file; one that is there is kept") }),
  ...local
})

/** The words of the command, its arguments and its flags; optional ones are in brackets. */
export const usage = (command: Command): string => {
  const parameters = parametersOf(fieldsOf(command)).toSorted((a, b) => Number(b.isArgument) - Number(a.isArgument))
  const either = parameters.filter(({ name }) => command.oneOf.includes(name))
  const others = parameters.filter(({ name }) => !command.oneOf.includes(name))
  return [
    command.words,
    ...(either.length === 0 ? [] : [either.map(withValue).join(" | ")]),
    ...others.map((parameter) => (parameter.isRequired ? withValue(parameter) : `[${withValue(parameter)}]`))
  ].join(" ")
}

/** The usage line, the summary, and a line for each argument and flag. */
export const page = (command: Command): string => {
  const rows = parametersOf(fieldsOf(command)).map(
    (parameter) => [withValue(parameter), parameter.description] as const
  )
  const width = Math.max(0, ...rows.map(([form]) => form.length))
  const lines = rows.map(([form, description]) => `  ${form.padEnd(width)}  ${description}`.trimEnd())
  return [usage(command), `    ${command.summary}`, ...(lines.length === 0 ? [] : ["", ...lines])].join("\n")
}
