import { Clock, Effect } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Machine from "./CardTrialMachine.ts"

interface By {
  readonly tenantId: TenantId
  /** The address of the request; null: none caused it. */
  readonly ip: string | null
}

const whose = { workspace: "of this workspace", address: "from this address" } as const

const later = ({ by, until }: Machine.Refusal, now: number) => {
  const secs = Math.max(1, Math.ceil((until - now) / 1000))
  return ApiError.later(secs, `too many cards ${whose[by]} were tried within a day; try again in ${secs} s`)
}

const addressOf = (ip: string | null) => (ip === null ? null : IpAddress.subscriber(ip))

/** The trials of cards, and their limits: the rows of `CardTrialMachine.ts`. Failed statements die. */
export const make = Effect.map(Sql.make, ({ all, count, done, transaction, value }) => {
  /** The limits bound them. */
  const tried = Effect.fnUntraced(function* ({ ip, tenantId }: By) {
    const since = timestamptz((yield* Clock.currentTimeMillis) - Machine.withinMs)
    const address = addressOf(ip)
    return {
      workspace: yield* all<Machine.Trial>`
        SELECT kind, at FROM card_trial WHERE tenant_id = ${tenantId} AND at > ${since} ORDER BY at`,
      address:
        address === null
          ? []
          : yield* all<Machine.Trial>`
            SELECT kind, at FROM card_trial WHERE address = ${address} AND at > ${since} ORDER BY at`
    }
  })

  const insert = Effect.fnUntraced(function* ({ ip, tenantId }: By, kind: Machine.Kind) {
    return yield* value<string>`
      INSERT INTO card_trial (tenant_id, address, kind, at)
      VALUES (${tenantId}, ${addressOf(ip)}, ${kind}, ${timestamptz(yield* Clock.currentTimeMillis)})
      RETURNING ordinal::text AS id`
  })

  /** Requests of one workspace, and of one address, are counted one after the other: tenants first. */
  const lock = ({ ip, tenantId }: By) =>
    Effect.forEach(
      [tenantId, addressOf(ip)].filter((name) => name !== null),
      (name) => count`SELECT 1 AS count FROM pg_advisory_xact_lock(hashtextextended(${`card trial ${name}`}, 0))`,
      { discard: true }
    )

  return {
    /** Whose limit refuses a charge, for `ChargeAttempts`; null: none does. */
    refusesCharge: (by: By) => Effect.map(tried(by), (of) => Machine.refusal("charge", of)?.by ?? null),
    /** Counts a setup or a save before the processor is asked for it; fails with `rate_limited` beyond the limits. */
    begin: Effect.fnUntraced(function* (by: By, asked: "setup" | "save") {
      yield* lock(by)
      const refusal = Machine.refusal(asked, yield* tried(by))
      if (refusal !== null) return yield* later(refusal, yield* Clock.currentTimeMillis)
      return yield* insert(by, asked === "save" ? "decline" : "setup")
    }, transaction),
    /** Counts a declined charge, inside the caller's transaction. */
    declinedWithin: (by: By) => Effect.asVoid(insert(by, "decline")),
    /** The card of this save is not declined. */
    saved: (id: string | null) => done`UPDATE card_trial SET kind = 'save' WHERE ordinal = ${id}::text::bigint`,
    /** No card was tried. */
    undone: (id: string | null) => done`DELETE FROM card_trial WHERE ordinal = ${id}::text::bigint`
  } as const
})
