import { hash } from "node:crypto"
import { Clock, Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import * as OperatorAudit from "../command/OperatorAudit.ts"

interface Row {
  readonly name: string
  readonly createdAt: number
}

/** The most operators with a token. */
const most = 1_000

const hashOf = (token: string): string => hash("sha256", token, "hex")

/**
 * Persons with a token of their own for the operator's door, guide/operation.md#operators. A token is 256 random bits,
 * of which the database has the SHA-256.
 */
export const make = Effect.gen(function* () {
  const { all, count, some, transaction, value } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy

  const record = Effect.fnUntraced(function* (name: string, what: "added" | "removed") {
    const of = { tenantId: null, resourceType: "operator", resourceId: name }
    yield* journal.commitWithin(yield* OperatorAudit.line({ ...of, action: `operator.${what}` }))
  })

  return {
    /** The name of the person with this token; null: it is no person's. */
    nameOf: (token: string) => value<string>`SELECT name AS id FROM operator_token WHERE token_hash = ${hashOf(token)}`,
    list: all<Row>`SELECT name, created_at FROM operator_token ORDER BY name`,
    /** Gives the token, which is not stored. Fails with 409 when the name has one. */
    add: Effect.fn("NamedOperators.add")(function* (name: string) {
      const token = entropy.hex(32)
      const at = yield* Clock.currentTimeMillis
      yield* Effect.gen(function* () {
        if ((yield* count`SELECT count(*) AS operators FROM operator_token`) >= most)
          return yield* ApiError.of("conflict", `${most} operators have a token already`)
        const isNew = yield* some`
          INSERT INTO operator_token (name, token_hash, created_at) VALUES (${name}, ${hashOf(token)}, ${timestamptz(at)})
          ON CONFLICT DO NOTHING RETURNING 1`
        if (!isNew) return yield* ApiError.of("conflict", `${name} has a token already; remove it first`, "name")
        yield* record(name, "added")
      }).pipe(transaction)
      return token
    }),
    /** The token is refused from the next request on. Fails with 404 when the name has none. */
    remove: Effect.fn("NamedOperators.remove")(function* (name: string) {
      yield* Effect.gen(function* () {
        const isRemoved = yield* some`DELETE FROM operator_token WHERE name = ${name} RETURNING 1`
        if (!isRemoved) return yield* ApiError.of("not_found", `no operator ${name}`, "name")
        yield* record(name, "removed")
      }).pipe(transaction)
    })
  } as const
})
