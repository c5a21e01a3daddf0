import { Effect, Schema, type Stream } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import type * as Download from "./Download.ts"
import * as TextTable from "./TextTable.ts"

type Fields = Schema.Struct.Fields
type Given<F extends Fields> = Schema.Struct<F>["Type"]
type Typed<F extends Fields> = Schema.Struct<F>["Encoded"]

/**
 * A command of the operator, declared once: the command line (flags, usage, help), the decoding at the door and the
 * door's route `POST /operator/<words>` derive from it.
 */
export interface Command<out R = unknown> {
  /** The words that name it, as `tenant credit`. */
  readonly words: string
  readonly summary: string
  /** The fields that the door takes. Their names are camelCase here and snake_case on the wire. */
  readonly input: Fields
  /** Fields that only the command line takes, to show the answer in another way. */
  readonly local: Fields
  /** Exactly one of these fields of the input must be given. */
  readonly oneOf: ReadonlyArray<string>
  /** The answer is a stream, and the command line saves it as a new file: `lines` compressed, a `file` as it is. */
  readonly saves: Download.Kind | null
  /** Only one such command runs at a time; another one is refused with this message. */
  readonly alone: string | null
  readonly print: (answer: never, given: never) => string
  /** False when the answer shows that something is wrong; the exit code is 1 then. */
  readonly isSound: (answer: never) => boolean
  /** Decodes the body and does the work. It has no rule of its own: it calls a feature and shows the result. */
  readonly run: (body: unknown) => Effect.Effect<unknown, ApiError, R>
}

/** The command's path at the door, below `/operator/`. */
export const route = ({ words }: Command): string => words.replaceAll(" ", "/")

interface Declared<F extends Fields> {
  readonly summary: string
  readonly input?: F
  readonly oneOf?: ReadonlyArray<keyof F & string>
  readonly alone?: string
}

/**
 * Without `columns` and `print` the answer reads as one line for each field. `columns`, separated by spaces, make a
 * table of the answer's `results`. `shown` comes last, so that its types follow from what `run` answers.
 */
export const make = <A, R, const F extends Fields, const L extends Fields>(
  words: string,
  declared: Declared<F> & {
    readonly local?: L
    readonly columns?: string
    readonly saves?: "file"
    readonly run: (input: Given<F>) => Effect.Effect<A, ApiError, R>
  },
  shown: {
    readonly print?: (answer: NoInfer<A>, typed: Typed<F> & Typed<L>) => string
    readonly isSound?: (answer: NoInfer<A>) => boolean
  } = {}
): Command<R> => {
  const { columns, local = {}, saves = null } = declared
  const print = saves !== null ? savedAs("") : columns === undefined ? asFields : table(columns)
  const { isSound = () => true } = shown
  return { ...common(words, declared), local, saves, isSound, print: shown.print ?? print, run: decoded(declared) }
}

/** A command whose answer is a stream of lines, the last of which begins with `{"end":true`. */
export const lines = <E, RS, R, const F extends Fields>(
  words: string,
  declared: Declared<F> & {
    /** The sentence that is printed after the file is saved. */
    readonly advice?: string
    readonly run: (input: Given<F>) => Effect.Effect<Stream.Stream<string, E, RS>, ApiError, R>
  }
): Command<R | RS> => ({
  ...common(words, declared),
  local: {},
  saves: "lines",
  isSound: () => true,
  print: savedAs(declared.advice ?? ""),
  run: decoded(declared)
})

const common = <F extends Fields>(words: string, { alone, input, oneOf = [], summary }: Declared<F>) => ({
  words,
  summary,
  input: input ?? {},
  oneOf,
  alone: alone ?? null
})

const asFields = (answer: Readonly<Record<string, unknown>>) => TextTable.fields(answer)

const savedAs =
  (advice: string) =>
  ({ bytes, file }: { readonly bytes: number; readonly file: string }) =>
    `${file}: ${bytes} bytes${advice === "" ? "" : `. ${advice}`}`

/** `Schema.Struct({})` takes any object. */
const Nothing = Schema.Record(Schema.String, Schema.Never)

/** An unknown field is an error, so that a misspelt one never silently does nothing. */
const decoded = <A, R, F extends Fields>(declared: {
  readonly input?: F
  readonly oneOf?: ReadonlyArray<keyof F & string>
  readonly run: (input: Given<F>) => Effect.Effect<A, ApiError, R>
}): ((body: unknown) => Effect.Effect<A, ApiError, R>) => {
  const { input, oneOf = [], run } = declared
  const schema = (input === undefined ? Nothing : Wire.struct(input)) as unknown as Schema.Codec<Given<F>, unknown>
  const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })
  return Effect.fnUntraced(function* (body) {
    const given = yield* Effect.mapError(decode(body), (error) =>
      ApiError.of("invalid_request", error.message.replace(/\s*\n\s*/g, " "))
    )
    if (oneOf.length > 0 && oneOf.filter((name) => name in (given as object)).length !== 1)
      return yield* ApiError.of("invalid_request", `either ${oneOf.map(Wire.snake).join(" or ")} is wanted`)
    return yield* run(given)
  })
}

interface Rows {
  readonly results: ReadonlyArray<object>
  /** Where the next page begins; null on the last one. */
  readonly next?: string | null
}

/** A table with these columns, separated by spaces, and how to ask for the next page. */
export const table =
  (columns: string) =>
  ({ next = null, results }: Rows): string =>
    TextTable.table(columns.split(" "), results as ReadonlyArray<Readonly<Record<string, unknown>>>) +
    (next === null ? "" : `\n\nmore: --after ${next}`)
