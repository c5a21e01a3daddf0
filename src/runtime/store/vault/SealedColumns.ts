/** A column whose texts the vault seals. */
export interface SealedColumn {
  readonly table: string
  /** The primary key. */
  readonly key: string
  readonly keyType: "text" | "uuid"
  readonly column: string
}

/**
 * Every column that holds text of `Vault.seal`. The check of the vault's key and its rotation go through this table, so
 * a column that is missing here becomes unreadable after a rotation. A new sealed column needs one row here.
 */
export const sealedColumns: ReadonlyArray<SealedColumn> = [
  { table: "tenant", key: "id", keyType: "uuid", column: "webhook_failover_secret" },
  { table: "webhook_subscription", key: "id", keyType: "text", column: "signing_secret" },
  { table: "route", key: "id", keyType: "text", column: "password" },
  { table: "porting_order", key: "id", keyType: "text", column: "account_secret" },
  { table: "call_key", key: "id", keyType: "text", column: "key" },
  { table: "letter", key: "cause", keyType: "text", column: "content" }
]
