import { type Schema, SchemaAST } from "effect"

/**
 * Fields whose values only their tenant may read: digits (card numbers, PINs), tokens, texts (which may contain such),
 * and URLs that carry a secret.
 *
 * A schema marks a field once, with `digits`, `token`, `text` or `url`. That determines the places of such values in
 * everything the schema describes: the journal keeps them sealed there, and the operator sees them masked.
 */
export type Kind = "digits" | "token" | "text" | "url"

const annotation = "trunkline/secret"

const as =
  (kind: Kind) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    schema.annotate({ [annotation]: kind })

/** Digits of a keypad. */
export const digits = as("digits")

/** A credential of the tenant: a bearer token, or a text that may hold one. */
export const token = as("token")

/** Words to a person, such as a code that is read out, a name or a balance. */
export const text = as("text")

/** A URL whose user name, password, query and fragment may be secrets. Its path is not. */
export const url = as("url")

/** The mask in place of a secret. */
const mask = "•••"

/** The masked value; null: it holds no secret. */
export const shown = (kind: Kind, value: string): string | null =>
  kind === "url" ? shownUrl(value) : value === "" ? null : mask

/** A URL without its possible secrets; null: there are none. */
const shownUrl = (value: string): string | null => {
  if (!/[?#@]/.test(value)) return null
  if (!URL.canParse(value)) return mask
  const { hash, host, password, pathname, protocol, search, username } = new URL(value)
  return hash === "" && password === "" && search === "" && username === ""
    ? null
    : `${protocol}//${host}${pathname}${search === "" && hash === "" ? "" : `?${mask}`}`
}

/** A tenant's URL for an audit line or a log. */
export const maskUrl = (value: string): string => shownUrl(value) ?? value

/** Makes the replacement of a secret field. */
export type By = (value: unknown, kind: Kind) => unknown

/**
 * Replaces each secret field of a value with the result of `by`, at any depth; returns the same object when nothing
 * changes. Apart from these fields the value keeps its type.
 */
export type Places = <A>(value: A, by: By) => A

/** The places of secrets in decoded values of this schema. */
export const places = (schema: Schema.Top): Places => placesOf(SchemaAST.toType(schema.ast))

/** The places of secrets in values as the schema encodes them. */
export const encodedPlaces = (schema: Schema.Top): Places => placesOf(SchemaAST.toEncoded(schema.ast))

const placesOf = (ast: SchemaAST.AST): Places => {
  const found = within(ast)
  return <A>(value: A, by: By) => (found === null ? value : (found(value, by) as A))
}

type Within = (value: unknown, by: By) => unknown

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const within = (ast: SchemaAST.AST): Within | null => {
  const kind = SchemaAST.resolveAt<Kind>(annotation)(ast)
  if (kind !== undefined) return (value, by) => (value === null || value === undefined ? value : by(value, kind))
  switch (ast._tag) {
    case "Objects":
      return withinFields(ast)
    case "Arrays":
      return withinItems(ast)
    case "Union":
      return withinUnion(ast)
    default:
      return null
  }
}

const withinFields = ({ propertySignatures }: SchemaAST.Objects): Within | null => {
  const fields = propertySignatures.flatMap(({ name, type }) => {
    const inner = within(type)
    return inner === null || typeof name !== "string" ? [] : [[name, inner] as const]
  })
  if (fields.length === 0) return null
  return (value, by) => {
    if (!isFields(value)) return value
    let changed: Record<string, unknown> | null = null
    for (const [name, inner] of fields) {
      const after = inner(value[name], by)
      if (after !== value[name]) (changed ??= { ...value })[name] = after
    }
    return changed ?? value
  }
}

const withinItems = ({ elements, rest }: SchemaAST.Arrays): Within | null => {
  const [item] = rest.map(within)
  if (elements.some((element) => within(element) !== null)) throw new Error("a secret in a tuple is not looked for")
  if (item === undefined || item === null) return null
  return (value, by) => {
    if (!Array.isArray(value) || value.length === 0) return value
    const items: ReadonlyArray<unknown> = value
    const after = items.map((each) => item(each, by))
    return after.some((each, index) => each !== items[index]) ? after : value
  }
}

/** A union member is recognized by its literal fields; one without any matches every value. */
const withinUnion = ({ types }: SchemaAST.Union): Within | null => {
  const members = types.flatMap((type) => {
    const inner = within(type)
    return inner === null ? [] : [{ inner, literals: literalsOf(type) }]
  })
  if (members.length === 0) return null
  return (value, by) => {
    const member = members.find(
      ({ literals }) =>
        literals.length === 0 || (isFields(value) && literals.every(([name, literal]) => value[name] === literal))
    )
    return member === undefined ? value : member.inner(value, by)
  }
}

const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<readonly [name: string, literal: unknown]> =>
  ast._tag === "Objects"
    ? ast.propertySignatures.flatMap(({ name, type }) =>
        typeof name === "string" && type._tag === "Literal" ? [[name, type.literal] as const] : []
      )
    : []
