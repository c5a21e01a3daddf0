import { Context, Layer } from "effect"
import type { JournalLost } from "./Ownership.ts"

/** The partitions that this process holds, for code that writes rows outside of commits. */
interface Claim {
  /** The epochs by partition. */
  readonly held: ReadonlyMap<number, number>
  /** Gives all partitions up, because the database has other epochs by now. */
  readonly lost: () => JournalLost
}

/**
 * Keeps a process that has lost the journal from writing anything at all (src/runtime/README.md#one-writer): each
 * transaction of the client checks the claim before it commits. Before the journal is taken, there is no claim to
 * check.
 */
export class WriteFence extends Context.Reference<{
  readonly claim: () => Claim | null
  readonly set: (claim: Claim) => void
}>("trunkline/store/WriteFence", {
  // The default is for a client that does not check the claim.
  defaultValue: () => ({ claim: () => null, set: () => {} })
}) {
  static readonly layer = Layer.sync(WriteFence, () => {
    let current: Claim | null = null
    return {
      claim: () => current,
      set: (claim) => {
        current = claim
      }
    }
  })
}
