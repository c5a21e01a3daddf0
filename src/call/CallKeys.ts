import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Step } from "../actor/Behavior.ts"
import { Entropy } from "../actor/Entropy.ts"
import type { CallId, TenantId } from "../domain/Id.ts"
import type { Commit } from "../store/Journal.ts"
import * as ListTable from "../store/ListTable.ts"
import * as Vault from "../store/Vault.ts"
import type { CallInput } from "./CallInput.ts"
import { isSettled } from "./CallMachine.ts"
import type { CallState } from "./CallState.ts"
import type { Effects } from "./Draft.ts"
import * as Sealing from "./Sealing.ts"

interface Key {
  readonly sealing: Vault.SealingKey
  /** Its row is durable. */
  stored: boolean
}

interface KeyRow {
  readonly id: CallId
  readonly tenantId: TenantId
  /** Sealed by the vault. */
  readonly key: string
}

const { of, text, uuid } = ListTable

const CallKeyTable = of<KeyRow>()("call_key", {
  id: text((row) => row.id),
  tenantId: uuid((row) => row.tenantId),
  key: text((row) => row.key)
})

/**
 * The keys of live calls, under which their secrets are sealed.
 *
 * A call has none until it has a secret: then a random key is made, whose row is written in the same commit. It is
 * deleted when nobody needs it any more (`retention/Retained.ts`), and what was sealed under it is gone for good.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault.Vault
  const entropy = yield* Entropy
  const keys = new Map<CallId, Key>()

  const keyOf = (callId: CallId): Key => {
    const known = keys.get(callId)
    if (known !== undefined) return known
    const key = { sealing: Vault.sealingKey(entropy.bytes(32)), stored: false }
    keys.set(callId, key)
    return key
  }

  return {
    /** Reads the keys of the calls that are not settled in a partition; without its key a call is unreadable. */
    load: Effect.fn("CallKeys.load")(function* (partition: number) {
      const rows = yield* Effect.orDie(sql<{ readonly id: CallId; readonly key: string }>`
        SELECT k.id, k.key FROM entity e JOIN call_key k ON k.id = e.id
        WHERE e.partition = ${partition} AND e.kind = 'call' AND NOT e.settled`)
      for (const { id, key } of rows)
        if (vault.opens(key)) {
          const bytes = Buffer.from(vault.open(key), "base64url")
          keys.set(id, { sealing: Vault.sealingKey(bytes), stored: true })
        } else yield* Effect.logError(`the key of call ${id} cannot be opened: its secrets are lost`)
    }),

    /** Opens what was sealed for a call that is live here; null: it cannot be opened. */
    opener:
      (callId: CallId) =>
      (sealed: string): string | null => {
        const key = keys.get(callId)
        try {
          return key === undefined ? null : Vault.open(key.sealing, sealed)
        } catch {
          return null
        }
      },

    /** The commit of a step with its secrets sealed; `committed` is called once it is durable. */
    seal: (
      step: Step<CallState, CallInput, Effects>,
      commit: Commit
    ): { readonly commit: Commit; readonly committed: () => void } => {
      const { id, tenantId } = step.state
      let used: Key | null = null
      const { input, state } = Sealing.sealed(step, (plain) => {
        used ??= keyOf(id)
        return Vault.seal(used.sealing, entropy.bytes(12), plain)
      })
      const key = keys.get(id)
      const committed = () => {
        if (used !== null) used.stored = true
        if (isSettled(step.state)) keys.delete(id)
      }
      if (input === step.input && state === step.state) return { commit, committed }
      const row =
        key === undefined || key.stored
          ? []
          : CallKeyTable.writes(null, { id, tenantId, key: vault.seal(key.sealing.export().toString("base64url")) })
      return {
        commit: {
          ...commit,
          entities: commit.entities.map((entity) => ({ ...entity, state, input: { ...entity.input, body: input } })),
          lists: [...commit.lists, ...row]
        },
        committed
      }
    },

    /** Forgets the keys of calls that are not live here any more. */
    retain: (isLive: (callId: CallId) => boolean): void => {
      for (const callId of keys.keys()) if (!isLive(callId)) keys.delete(callId)
    }
  } as const
})
