import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as Database from "../boot/Database.ts"
import type { DatabaseUnsuitable } from "../boot/DatabaseCheck.ts"
import type { DatabaseUnreachable } from "../boot/DatabaseError.ts"
import type { Address } from "../../runtime/store/postgres/Address.ts"
import type * as VaultKey from "../boot/VaultKey.ts"
import type { EmbeddedPostgresError } from "../../runtime/store/embedded/EmbeddedPostgresError.ts"
import * as JournalWriter from "../../runtime/store/journal/JournalWriter.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as VaultCheck from "../../runtime/store/vault/VaultCheck.ts"

/** The partitions of the journal that this process serves: all of them. */
const partitions: ReadonlyArray<number> = [0]

export interface Options {
  /** The database, when it can be connected to. */
  readonly address: Effect.Effect<Address, EmbeddedPostgresError | DatabaseUnsuitable | DatabaseUnreachable>
  /** The database as messages name it. */
  readonly name: string
  readonly keys: VaultKey.Keys
  /** Our identity for a process that stands by. */
  readonly holder: string
  /** Called when another process has taken every partition over. */
  readonly onLost: (reason: string) => void
  /** Called when no other process owns the journal any more, before the schema is migrated. */
  readonly onOwned: () => void
}

/** The database, the vault over it, and the journal, which waits for its turn while another process owns it. */
export const layer = ({ address, holder, keys, name, onLost, onOwned }: Options) => {
  // A program of another version, or of another installation, is refused before it waits for its turn.
  const journal = Layer.unwrap(
    Effect.gen(function* () {
      yield* VaultCheck.verify
      const database = yield* Effect.context<SqlClient.SqlClient | Vault>()
      return JournalWriter.layer({
        partitions,
        onLost: (lost, left) => {
          if (left.length === 0) onLost(lost.message)
        },
        standBy: {
          holder,
          prepare: Effect.suspend(() => {
            onOwned()
            return Effect.provide(Effect.andThen(Database.migrated, VaultCheck.confirm), database)
          })
        }
      })
    })
  )
  return journal.pipe(
    Layer.provideMerge(
      Layer.merge(
        Vault.layerOf(keys.ring, keys.keep),
        Layer.unwrap(Effect.map(address, (known) => Database.layer(known, { name })))
      )
    )
  )
}
