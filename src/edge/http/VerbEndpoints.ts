import { Result, Schema } from "effect"
import type { NonEmptyReadonlyArray } from "effect/Array"
import { HttpApiEndpoint } from "effect/http-api"
import type { Code } from "../../domain/ErrorCatalogue.ts"
import type { Verb } from "../../telephony/verb/Verb.ts"
import type { VerbTable } from "../../telephony/verb/VerbTable.ts"
import { about } from "./Endpoint.ts"

interface Options<Name extends string, Params, Success> {
  readonly verbs: Pick<VerbTable<Name, unknown>, "names" | "table">
  readonly path: (verb: Name) => `/${string}`
  readonly params: Params
  /** The entity as each verb answers with it. */
  readonly success: Success
  /** The errors of every verb, for a state in which it is not possible. */
  readonly errors: ReadonlyArray<Code>
}

/** A verb whose fields may all be left out may be sent without a body. */
const payloadOf = ({ body }: Verb) =>
  Result.isSuccess(Schema.decodeUnknownResult(body)({})) ? [body, Schema.Null] : [body]

const endpoint = <Name extends string, Params extends Schema.Struct.Fields, Success extends Schema.Top>(
  verb: Name,
  { errors, params, path, success, verbs }: Options<Name, Params, Success>
) => {
  const row = verbs.table[verb]
  return HttpApiEndpoint.post(verb, path(verb), {
    params,
    payload: payloadOf(row) as unknown as readonly [Schema.Codec<unknown, unknown>],
    success
  }).annotateMerge(about({ summary: row.summary, scope: "calls:write", errors: [...errors, ...(row.errors ?? [])] }))
}

/** One endpoint for each verb of a table. The cast gives each its verb's name, and says that there is at least one. */
export const make = <Name extends string, Params extends Schema.Struct.Fields, Success extends Schema.Top>(
  options: Options<Name, Params, Success>
) =>
  options.verbs.names.map((verb) => endpoint(verb, options)) as unknown as NonEmptyReadonlyArray<
    { [N in Name]: ReturnType<typeof endpoint<N, Params, Success>> }[Name]
  >
