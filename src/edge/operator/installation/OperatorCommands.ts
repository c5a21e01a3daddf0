import { Effect, Schema } from "effect"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as OperatorName from "../command/OperatorName.ts"
import * as NamedOperators from "../door/NamedOperators.ts"

const name = Flag.argument(
  "name",
  Schema.String.check(Schema.isPattern(OperatorName.form)),
  "the name of the person in audit lines"
)

/** guide/operation.md#operators. */
export const commands = [
  Command.make("operator add", {
    summary: "gives a person a token for these commands, which is shown once; audit lines name the person",
    input: { name },
    run: Effect.fnUntraced(function* ({ name }) {
      return { name, token: yield* (yield* NamedOperators.make).add(name) }
    })
  }),
  Command.make("operator list", {
    summary: "lists the persons with a token",
    columns: "name created_at",
    run: Effect.fnUntraced(function* () {
      const operators = yield* (yield* NamedOperators.make).list
      return { results: operators.map(({ createdAt, name }) => ({ name, created_at: Timestamp.format(createdAt) })) }
    })
  }),
  Command.make("operator remove", {
    summary: "takes the token of a person away",
    input: { name },
    run: Effect.fnUntraced(function* ({ name }) {
      yield* (yield* NamedOperators.make).remove(name)
      return { name, removed: true }
    })
  })
]
