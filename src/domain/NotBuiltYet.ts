import { Schema } from "effect"
import { disagreement } from "./CodedCheck.ts"
import { Rejected } from "./Rejected.ts"

/**
 * Parts of the API that are declared, and so stand in the published document, and that are refused with 422
 * `unprocessable`, which names them. Whoever builds one deletes its `NotBuiltYet`.
 */
const description = "Not built yet: answers 422 `unprocessable`."

type Plain = Schema.Codec<unknown, unknown>

/** An optional field: absent is fine, a valid value is refused, a wrong one is a 400 as ever. */
export const field = <S extends Plain>(schema: S) =>
  Schema.optionalKey(schema.check(disagreement<S["Type"]>(() => "is not built yet")).annotate({ description }))

/** A field of which only the `built` values work. */
export const value = <S extends Schema.Codec<string, string>>(schema: S, built: ReadonlyArray<S["Type"]>) =>
  schema
    .check(disagreement<S["Type"]>((value) => (built.includes(value) ? undefined : `${value} is not built yet`)))
    .annotate({ description: `Built so far: ${built.map((value) => `\`${value}\``).join(", ")}; others answer 422.` })

/** What a whole endpoint answers. */
export const endpoint = (what: string) => Rejected.of("unprocessable", `${what} is not built yet`)
