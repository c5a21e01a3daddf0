import { Effect } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import { Recognizer } from "../../ports/speech/Recognizer.ts"
import { Synthesizer } from "../../ports/speech/Synthesizer.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import type { Verb } from "../../telephony/verb/Verb.ts"
import type { VerbTable } from "../../telephony/verb/VerbTable.ts"
import * as Reachable from "./connection/Reachable.ts"
import type { CurrentKey } from "./request/Authenticator.ts"
import { write } from "./Handler.ts"

/** The entities on which the verbs of a table act. */
interface Door<Id, Action> {
  readonly allows: (tenantId: TenantId, id: Id, action: Action) => Effect.Effect<void, ApiError>
  readonly act: (
    caller: CurrentKey["Service"],
    id: Id,
    action: Action,
    slot: Slot | null
  ) => Effect.Effect<Rendered, ApiError>
}

interface Request<Id> {
  readonly params: { readonly id: Id }
  readonly payload: unknown
}

/** Makes the handlers of a table of verbs: the service first checks that it can do what the action asks of others. */
export const make = Effect.gen(function* () {
  const reachable = yield* Reachable.make
  const synthesizer = yield* Synthesizer
  const recognizer = yield* Recognizer

  /** Why no engine here can perform the action; null when one can. */
  const refusalOf = (row: Verb, body: unknown) => {
    const speaking = row.speaks?.(body)
    const recognizing = row.recognizes?.(body)
    return (
      (speaking === undefined ? null : synthesizer.refuse(speaking)) ??
      (recognizing === undefined ? null : recognizer.refuse(recognizing))
    )
  }

  return <Name extends string, Action extends { readonly body: unknown }, Id>(
    verbs: VerbTable<Name, Action>,
    { act, allows }: Door<Id, Action>
  ) => {
    const handler = (verb: Name) =>
      write(
        Effect.fnUntraced(function* (key, { params, payload }: Request<Id>, slot) {
          const row = verbs.table[verb]
          // A request without a body gets the verb's defaults.
          const action = payload === null ? verbs.decodeAction(verb, {}) : verbs.action(verb, payload)
          yield* reachable(row.targets?.(action.body) ?? {}, "https:")
          yield* reachable(row.sockets?.(action.body) ?? {}, "wss:")
          const refusal = refusalOf(row, action.body)
          if (refusal !== null) {
            // An error of the entity itself takes precedence.
            yield* allows(key.tenantId, params.id, action)
            return yield* ApiError.of("unprocessable", refusal.detail, refusal.field)
          }
          return yield* act(key, params.id, action, slot)
        })
      )
    return Object.fromEntries(verbs.names.map((verb) => [verb, handler(verb)])) as {
      readonly [N in Name]: ReturnType<typeof handler>
    }
  }
})
