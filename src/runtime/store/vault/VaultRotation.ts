import { Effect, Redacted, Schema } from "effect"
import { Entropy } from "../../process/Entropy.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as SealedRows from "./SealedRows.ts"
import { Vault } from "./Vault.ts"
import * as VaultCheck from "./VaultCheck.ts"

/** Only the operator can change the key. */
export class KeyNotOurs extends Schema.TaggedError<KeyNotOurs>()("KeyNotOurs", {}) {
  override get message() {
    return (
      "the vault's key comes from SECRET_KEY: set SECRET_KEY to a new key and SECRET_KEY_PREVIOUS to the present one, " +
      "restart, and rotate again"
    )
  }
}

/**
 * For this long after the change, texts under the previous key may still be on their way to the database: a statement
 * ends within a minute.
 */
const settleMs = 65_000

/**
 * Changes the key of the vault: seals every sealed text again under the new key, a page at a time, beside the traffic;
 * gives the number of texts (src/runtime/README.md#vault).
 *
 * When the key is ours (a file), it makes a new one first. Until the end both keys are kept and open, so a crash at any
 * line loses nothing, and the next rotation continues with the existing key. It ends when a pass that began `settleMs`
 * after the change finds nothing under an older key.
 *
 * Fails with `KeyNotOurs` when there is no other key to change to.
 */
export const rotate = Effect.fnUntraced(function* <E = never, R = never>(
  options: {
    readonly settleMs?: number
    /** Runs before the first change, and not at all when nothing changes. */
    readonly starts?: Effect.Effect<unknown, E, R>
  } = {}
) {
  const vault = yield* Vault
  const entropy = yield* Entropy
  const before = vault.keys()
  if (before.earlier.length === 0 && vault.keep === null) return yield* new KeyNotOurs()
  yield* options.starts ?? Effect.void
  if (before.earlier.length === 0 && vault.keep !== null) {
    const changed = { current: Redacted.make(entropy.bytes(32)), earlier: [before.current] }
    yield* vault.keep(changed)
    vault.use(changed)
  }
  yield* VaultCheck.confirm
  const settledAt = (yield* Monotonic.now) + (options.settleMs ?? settleMs)
  let resealed = yield* pass
  yield* Effect.sleep(Math.max(0, settledAt - (yield* Monotonic.now)))
  for (let again = yield* pass; again > 0; again = yield* pass) resealed += again
  yield* VaultCheck.retireOthers
  const { current, earlier } = vault.keys()
  if (vault.keep !== null) yield* vault.keep({ current, earlier: [] })
  vault.use({ current, earlier: [] })
  return { resealed, retiredKeys: earlier.length, isKeyOurs: vault.keep !== null }
})

/** Seals the texts that are not under the current key. One that changes meanwhile is left to the next pass. */
const pass = Effect.gen(function* () {
  const vault = yield* Vault
  let count = 0
  yield* SealedRows.forEachPage((page) => {
    const texts = page.rows.flatMap(({ id, sealed }) =>
      vault.isCurrent(sealed) ? [] : [{ id, old: sealed, sealed: vault.seal(vault.open(sealed)) }]
    )
    count += texts.length
    return texts.length === 0 ? Effect.void : SealedRows.replace(page, texts)
  })
  return count
})
