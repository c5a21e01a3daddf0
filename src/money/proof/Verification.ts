import { Clock, Effect } from "effect"
import type { TenantId } from "../../domain/Id.ts"
import * as Chain from "./Chain.ts"
import { starting, type ProofRepo } from "./ProofRepo.ts"
import * as Sealer from "./Sealer.ts"
import type { ExceptionCode } from "./ProofView.ts"

/** A difference that was found. */
interface Fault {
  readonly tenantId: TenantId | null
  readonly code: ExceptionCode | "root_differs"
  readonly message: string
}

export interface Verified {
  readonly tenants: number
  readonly entries: number
  readonly seals: number
  readonly roots: number
  /** The newest root, for comparison with one that was kept elsewhere. */
  readonly rootHash: string | null
  readonly faults: ReadonlyArray<Fault>
}

/** The most faults that are reported, because the first ones show where to look. */
const mostFaults = 100

/**
 * Reads the ledgers from their first entry on and compares them with seals, balances and calls: every link of every
 * chain, every running balance, every seal, every call that costs something. It takes a few microseconds an entry, and
 * changes nothing.
 */
export const make = (repo: ProofRepo) => {
  const ofTenant = Effect.fnUntraced(function* (tenantId: TenantId) {
    const faults: Array<Fault> = []
    const wrong = (code: Fault["code"], message: string) => void faults.push({ tenantId, code, message })
    const seals = yield* repo.seals(tenantId)
    let balanceCents = 0
    const add = (entry: { readonly amountCents: number; readonly balanceAfterCents: number; readonly id: string }) => {
      balanceCents += entry.amountCents
      if (entry.balanceAfterCents === balanceCents) return
      wrong("entry_differs", `${entry.id} says that it left ${entry.balanceAfterCents}, and the sum is ${balanceCents}`)
      balanceCents = entry.balanceAfterCents
    }
    let place = { ordinal: starting, link: Chain.genesis(tenantId) }
    let entries = 0
    for (const seal of seals) {
      const before = balanceCents
      const passed = yield* Sealer.follow(repo, tenantId, place, seal.throughOrdinal, add)
      entries += passed.entries
      const said = [
        seal.entries,
        seal.creditsCents,
        seal.debitsCents,
        seal.balanceBeforeCents,
        seal.balanceCents,
        seal.totalEntries,
        seal.chainHash
      ]
      const found = [
        passed.entries,
        passed.creditsCents,
        passed.debitsCents,
        before,
        balanceCents,
        entries,
        passed.link
      ]
      if (said.join() !== found.join())
        wrong(
          "seal_differs",
          `seal ${seal.number} of ${seal.day} says ${said.join(" ")}, and the ledger ${found.join(" ")}`
        )
      else if (Math.abs(seal.throughAt - passed.at) >= 1)
        wrong("seal_differs", `seal ${seal.number} of ${seal.day} does not say when its last entry was booked`)
      place = { ordinal: seal.throughOrdinal, link: seal.chainHash }
    }
    const tail = yield* Sealer.follow(repo, tenantId, place, null, add)
    entries += tail.entries
    const standing = yield* repo.standing(tenantId, { ordinal: tail.ordinal, balanceCents })
    if (standing === null) wrong("balance_differs", `there is no balance, and the ledger's sum is ${balanceCents}`)
    // Entries that were booked since the last one was read count too.
    else if (standing.balanceCents - standing.sumCents !== balanceCents)
      wrong("balance_differs", `the balance is ${standing.balanceCents}, and the ledger's sum ${balanceCents}`)
    const calls = yield* repo.calls(tenantId, null, null)
    if (calls.rated !== calls.debited)
      wrong("call_not_debited", `${calls.rated} calls cost something, and ${calls.debited} of them are debited so`)
    return { entries, seals: seals.length, days: seals.map(({ day }) => day), faults }
  })

  /**
   * Verifies all tenants, or one tenant, with the chain of roots. Every root is checked for one tenant too, because the
   * tenant may have had seals on any day, and only the root shows those that were deleted.
   */
  return Effect.fn("Verification.run")(function* (tenantId: TenantId | null) {
    const tenants = tenantId === null ? yield* repo.tenants : [tenantId]
    const faults: Array<Fault> = []
    const add = (...found: ReadonlyArray<Fault>) => void faults.push(...found.slice(0, mostFaults - faults.length))
    let [entries, seals] = [0, 0]
    const days = new Set<string>()
    for (const id of tenants) {
      const found = yield* ofTenant(id)
      entries += found.entries
      seals += found.seals
      for (const day of found.days) days.add(day)
      add(...found.faults)
    }
    const roots = yield* repo.roots
    let link = Chain.noRoot
    const wrongRoot = (message: string) => add({ tenantId: null, code: "root_differs", message })
    for (const root of roots) {
      const before = link
      link = root.rootHash
      const sealed = yield* repo.sealsOf(root.day)
      const sum = sealed.reduce((all, seal) => all + seal.entries, 0)
      const found = Chain.root(before, root, sealed)
      const isWrong = found === "" || found !== root.rootHash
      if (isWrong) wrongRoot(`the root of ${root.day} is not that of its seals`)
      else if (root.seals !== sealed.length || root.entries !== sum)
        wrongRoot(`the root of ${root.day} does not say how many seals and entries there are`)
      if (!isWrong) continue
      for (const id of yield* repo.lostSeals(root.number))
        if (tenantId === null || tenantId === id)
          add({ tenantId: id, code: "seal_differs", message: `the root of ${root.day} names a seal that is gone` })
    }
    // The root of a day that is not over may still be missing.
    const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    for (const day of yield* repo.openDays)
      if (day !== today && (tenantId === null || days.has(day))) wrongRoot(`the seals of ${day} have no root`)
    const verified: Verified = {
      tenants: tenants.length,
      entries,
      seals,
      roots: roots.length,
      rootHash: roots.at(-1)?.rootHash ?? null,
      faults
    }
    return verified
  })
}
