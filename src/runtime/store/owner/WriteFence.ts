import { Context, Layer } from "effect"
import type { JournalLost } from "./Ownership.ts"

/** What this process holds of the journal, for whoever writes rows that no commit carries. */
export interface Claim {
  /** Partition to epoch. */
  readonly held: ReadonlyMap<number, number>
  /** The database knows none of these epochs any more: gives them up. */
  readonly lost: () => JournalLost
}

/**
 * Keeps a process that has lost the journal from writing anything at all (src/README.md#one-writer): each transaction of
 * the client looks here before it commits. Until the journal is taken there is nothing to look at.
 */
export class WriteFence extends Context.Reference<{
  readonly claim: () => Claim | null
  readonly set: (claim: Claim) => void
}>("trunkline/store/WriteFence", {
  // Of a client that does not look.
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
