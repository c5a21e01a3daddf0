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

const refusals = {
  workspace: ApiError.of("payment_failed", "too many cards of this workspace were tried today; try again tomorrow"),
  address: ApiError.of("payment_failed", "too many cards were tried from this address today; try again tomorrow")
}

const addressOf = (ip: string | null) => (ip === null ? null : IpAddress.subscriber(ip))

/** The trials of cards, and their limits: the rows of `CardTrialMachine.ts`. Failed statements die. */
export const make = Effect.map(Sql.make, ({ count, done, first, transaction, value }) => {
  const counts = Effect.fnUntraced(function* ({ ip, tenantId }: By) {
    const since = (yield* Clock.currentTimeMillis) - Machine.withinMs
    const address = addressOf(ip)
    const workspace = yield* first<Machine.Trials>`
      SELECT count(*) FILTER (WHERE kind = 'setup') AS setup, count(*) FILTER (WHERE kind = 'save') AS save,
        count(*) FILTER (WHERE kind = 'decline') AS decline
      FROM card_trial WHERE tenant_id = ${tenantId} AND at > ${timestamptz(since)}`
    const site =
      address === null
        ? null
        : yield* first<Machine.Trials>`
          SELECT count(*) FILTER (WHERE kind = 'setup') AS setup, count(*) FILTER (WHERE kind = 'save') AS save,
            count(*) FILTER (WHERE kind = 'decline') AS decline
          FROM card_trial WHERE address = ${address} AND at > ${timestamptz(since)}`
    return { workspace: workspace ?? Machine.none, address: site ?? Machine.none }
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
    /** Whether a charge is refused, for `ChargeAttempts`. */
    refusesCharge: (by: By) => Effect.map(counts(by), (tried) => Machine.refusal("charge", tried)),
    /** Counts a setup or a save before the processor is asked for it; fails beyond the limits. */
    begin: Effect.fnUntraced(function* (by: By, asked: "setup" | "save") {
      yield* lock(by)
      const refusal = Machine.refusal(asked, yield* counts(by))
      if (refusal !== null) return yield* refusals[refusal]
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
