import { Data, Effect, Redacted } from "effect"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream"
import { createGunzip } from "node:zlib"
import { BackupUnusable } from "../../runtime/store/backup/BackupFormat.ts"
import * as Load from "../../runtime/store/backup/Load.ts"
import type { Keyring } from "../../runtime/store/vault/Vault.ts"
import { type Config, keyBytes } from "./config/Config.ts"
import * as VaultKey from "./VaultKey.ts"

/** The longest line. A row holds a call or an event, and none is longer. */
const maxLineBytes = 64 * 1024 * 1024

class OtherKey extends Data.TaggedError("OtherKey")<{ readonly where: string }> {
  override get message() {
    return `the backup cannot be restored: ${this.where} holds another key than the backup; remove it, or use another DATA_DIR`
  }
}

/**
 * Restores a backup into the empty database of this installation, and the key of its vault into the data directory,
 * which the caller owns (guide/operation.md#backup-and-restore). Gives a one-line summary.
 *
 * The key comes first: a restore that fails leaves an empty database and the key, and can be run again.
 */
export const restore = Effect.fnUntraced(function* (
  file: string,
  passphrase: string,
  config: Pick<Config, "secretKey">,
  dataDir: string
) {
  const lines = yield* linesOf(file)
  const header = yield* lines
  const opened = yield* Load.open(header, passphrase)
  yield* keepKeys(opened.keys, config, dataDir)
  const rows = yield* Load.load(header ?? "", opened, lines)
  return `restored ${rows} rows of the backup of ${opened.takenAt}; start the service`
})

const keepKeys = Effect.fnUntraced(function* (
  keys: Keyring,
  { secretKey }: Pick<Config, "secretKey">,
  dataDir: string
) {
  if (secretKey === null) {
    if (!(yield* VaultKey.install(dataDir, keys))) return yield* new OtherKey({ where: VaultKey.fileOf(dataDir) })
    return
  }
  const given = Buffer.from(keyBytes(Redacted.value(secretKey)) ?? [])
  if (!given.equals(Redacted.value(keys.current))) return yield* new OtherKey({ where: "SECRET_KEY" })
})

/** Gives the lines of a compressed file, one at a time and without their newlines; null at the end. */
const linesOf = Effect.fnUntraced(function* (file: string) {
  const source = createGunzip()
  // The callback ignores failures because the reader below receives each of them from the stream.
  pipeline(createReadStream(file), source, () => undefined)
  const iterator = split(source)[Symbol.asyncIterator]()
  yield* Effect.addFinalizer(() => Effect.sync(() => source.destroy()))
  return Effect.map(
    Effect.tryPromise({
      try: () => iterator.next(),
      catch: (error) =>
        new BackupUnusable({ detail: `${file}: ${error instanceof Error ? error.message : String(error)}` })
    }),
    (found) => (found.done === true ? null : found.value)
  )
})

async function* split(source: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let rest: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of source) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString("utf8")
      rest = []
      bytes = 0
      from = at + 1
    }
    rest.push(chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > maxLineBytes) throw new Error("a line is too long")
  }
  if (bytes > 0) yield Buffer.concat(rest).toString("utf8")
}
