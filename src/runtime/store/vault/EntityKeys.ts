import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../process/Entropy.ts"
import type { CallId, ConferenceId, TenantId } from "../../../domain/Id.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import type { Commit } from "../journal/Journal.ts"
import * as ListTable from "../list/ListTable.ts"
import * as Vault from "./Vault.ts"

/** The value that the journal keeps in place of a secret. */
interface Sealed {
  readonly sealed: string
  /** The text that replaces the value when the key is gone. */
  readonly standIn: string
}

export const is = (value: unknown): value is Sealed =>
  typeof value === "object" && value !== null && "sealed" in value && "standIn" in value

/** Replaces each value that holds a secret by a `Sealed`. */
export const wrap =
  (seal: (plain: string) => string, standIn: (kind: Secret.Kind, value: string) => string): Secret.By =>
  (value, kind) =>
    typeof value !== "string" || Secret.shown(kind, value) === null
      ? value
      : ({ sealed: seal(value), standIn: standIn(kind, value) } satisfies Sealed)

interface Key {
  readonly sealing: Vault.SealingKey
  /** True once the key's row is durable. */
  stored: boolean
}

interface KeyRow {
  readonly id: CallId | ConferenceId
  readonly tenantId: TenantId
  /** The key, sealed by the vault. */
  readonly key: string
}

const { of, text, uuid } = ListTable

/** The table has the name of the first kind of entity that had keys. */
const KeyTable = of<KeyRow>()("call_key", {
  id: text((row) => row.id),
  tenantId: uuid((row) => row.tenantId),
  key: text((row) => row.key)
})

/**
 * The keys of live entities of one kind, under which their secrets are sealed.
 *
 * An entity has no key until it has a secret: then a random key is made, whose row is written in the same commit. The
 * key is deleted when it is no longer needed (`runtime/retention/Retained.ts`), and values sealed under it are then
 * lost for good.
 */
export const make = Effect.fnUntraced(function* <
  Id extends CallId | ConferenceId,
  Step extends { readonly input: unknown; readonly state: { readonly id: Id; readonly tenantId: TenantId } }
>(of: {
  readonly kind: "call" | "conference"
  /** The input and the state of a step as the journal keeps them; each is unchanged when it holds no secret. */
  readonly sealed: (step: Step, seal: (plain: string) => string) => { readonly input: unknown; readonly state: unknown }
  isSettled(state: Step["state"]): boolean
}) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault.Vault
  const entropy = yield* Entropy
  const keys = new Map<Id, Key>()

  const keyOf = (id: Id): Key => {
    const known = keys.get(id)
    if (known !== undefined) return known
    const key = { sealing: Vault.sealingKey(entropy.bytes(32)), stored: false }
    keys.set(id, key)
    return key
  }

  return {
    /** Reads the keys of the unsettled entities of a partition, which are unreadable without them. */
    load: Effect.fn("EntityKeys.load")(function* (partition: number) {
      const rows = yield* Effect.orDie(sql<{ readonly id: Id; readonly key: string }>`
        SELECT k.id, k.key FROM entity e JOIN call_key k ON k.id = e.id
        WHERE e.partition = ${partition} AND e.kind = ${of.kind} AND NOT e.settled`)
      for (const { id, key } of rows)
        if (vault.opens(key)) {
          const bytes = Buffer.from(vault.open(key), "base64url")
          keys.set(id, { sealing: Vault.sealingKey(bytes), stored: true })
        } else yield* Effect.logError(`the key of ${of.kind} ${id} cannot be opened: its secrets are lost`)
    }),

    /** Opens values that were sealed for an entity that is live here; null: the value cannot be opened. */
    opener:
      (id: Id) =>
      (sealed: string): string | null => {
        const key = keys.get(id)
        try {
          return key === undefined ? null : Vault.open(key.sealing, sealed)
        } catch {
          return null
        }
      },

    /** Seals the secrets in the commit of a step; `committed` is called once it is durable. */
    seal: (step: Step, commit: Commit): { readonly commit: Commit; readonly committed: () => void } => {
      const { id, tenantId } = step.state
      let used: Key | null = null
      const { input, state } = of.sealed(step, (plain) => {
        used ??= keyOf(id)
        return Vault.seal(used.sealing, entropy.bytes(12), plain)
      })
      const key = keys.get(id)
      const committed = () => {
        if (used !== null) used.stored = true
        if (of.isSettled(step.state)) keys.delete(id)
      }
      if (input === step.input && state === step.state) return { commit, committed }
      const row =
        key === undefined || key.stored
          ? []
          : KeyTable.writes(null, { id, tenantId, key: vault.seal(key.sealing.export().toString("base64url")) })
      return {
        commit: {
          ...commit,
          entities: commit.entities.map((entity) => ({ ...entity, state, input: { ...entity.input, body: input } })),
          lists: [...commit.lists, ...row]
        },
        committed
      }
    },

    /** Drops the keys of entities that are no longer live here. */
    retain: (isLive: (id: Id) => boolean): void => {
      for (const id of keys.keys()) if (!isLive(id)) keys.delete(id)
    }
  } as const
})
