import { Effect, Redacted, Schema } from "effect"
import { scrypt } from "node:crypto"
import * as Vault from "../vault/Vault.ts"

/**
 * The format of a backup: lines of JSON, each ended by a newline. The first is the header; then for each table one line
 * that names it and its columns, and one array of texts for each of its rows; then the sequences; the last line has the
 * counts and the SHA-256 of everything before it (src/runtime/README.md#backup).
 */

export class BackupUnusable extends Schema.TaggedError<BackupUnusable>()("BackupUnusable", { detail: Schema.String }) {
  override get message() {
    return `the backup cannot be restored: ${this.detail}`
  }
}

export const format = 1

/**
 * The keys of the vault under a key that is derived from a passphrase (RFC 7914, scrypt with N = 2^15, r = 8, p = 1).
 */
const SealedKeys = Schema.Struct({ salt: Schema.String, sealed: Schema.String })
type SealedKeys = typeof SealedKeys.Type

export const Header = Schema.fromJsonString(
  Schema.Struct({
    trunkline_backup: Schema.Int,
    /** The last migration of the schema of the rows. */
    schema: Schema.Int,
    taken_at: Schema.String,
    keys: SealedKeys
  })
)

/** A column's name, and its type in the notation of Postgres. */
const Column = Schema.Tuple([Schema.String, Schema.String])

/** The line before the rows of a table. */
const TableLine = Schema.Struct({ table: Schema.String, columns: Schema.Array(Column) })
const SequenceLine = Schema.Struct({ sequence: Schema.String, value: Schema.String, is_called: Schema.Boolean })
const EndLine = Schema.Struct({ end: Schema.Literal(true), rows: Schema.Int, sha256: Schema.String })
/** A row: each column as the text that Postgres writes for it, or null. */
const Row = Schema.Array(Schema.NullOr(Schema.String))

export const Line = Schema.fromJsonString(Schema.Union([Row, TableLine, SequenceLine, EndLine]))
export type Line = typeof Line.Type
export type TableLine = typeof TableLine.Type

export const minPassphrase = 12

const derive = (passphrase: string, salt: Uint8Array) =>
  Effect.callback<Uint8Array>((resume) => {
    const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
    scrypt(passphrase.normalize("NFC"), salt, 32, cost, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  })

/** `random`: 28 bytes. */
export const sealKeys = (ring: Vault.Keyring, passphrase: string, random: Uint8Array): Effect.Effect<SealedKeys> => {
  const salt = random.subarray(0, 16)
  const text = [ring.current, ...ring.earlier].map((key) => Buffer.from(Redacted.value(key)).toString("hex")).join()
  return Effect.map(derive(passphrase, salt), (key) => ({
    salt: Buffer.from(salt).toString("hex"),
    sealed: Vault.seal(key, random.subarray(16, 28), text)
  }))
}

export const openKeys = Effect.fnUntraced(function* ({ salt, sealed }: SealedKeys, passphrase: string) {
  const key = yield* derive(passphrase, Buffer.from(salt, "hex"))
  const text = yield* Effect.try({
    try: () => Vault.open(key, sealed),
    catch: () => new BackupUnusable({ detail: "the passphrase is not the one that it was taken with" })
  })
  const [current, ...earlier] = text.split(",").map((hex) => Redacted.make(new Uint8Array(Buffer.from(hex, "hex"))))
  if (current === undefined) return yield* new BackupUnusable({ detail: "it holds no key" })
  return { current, earlier } satisfies Vault.Keyring
})
