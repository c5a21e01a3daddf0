import { Schema } from "effect"
import { disagreement } from "./CodedCheck.ts"
import { ApiError } from "./ApiError.ts"

/**
 * Parts of the API that are declared, and so stand in the published document, but answer 422 `unprocessable` with their
 * name. Whoever builds one deletes its `NotBuiltYet`. A keyword in the document's schema lists what works.
 */
const check = <A>(built: ReadonlyArray<string>, fault: (value: A) => string | undefined) =>
  disagreement<A>(fault).annotate({ toJsonSchema: () => [{ "x-built-so-far": built }, true] })

type Plain = Schema.Codec<unknown, unknown>

/** An optional field: absent is fine, a valid value is 422, and a wrong one is 400 as ever. */
export const field = <S extends Plain>(schema: S) =>
  Schema.optionalKey(schema.check(check<S["Type"]>([], () => "is not built yet")))

/** A field of which only the `built` values work. */
export const value = <S extends Schema.Codec<string, string>>(schema: S, built: ReadonlyArray<S["Type"]>) =>
  schema.check(check<S["Type"]>(built, (value) => (built.includes(value) ? undefined : `${value} is not built yet`)))

/** What a whole endpoint answers. */
export const endpoint = (what: string) => ApiError.of("unprocessable", `${what} is not built yet`)
