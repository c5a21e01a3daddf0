import { Clock, Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { type Ban, IngressBans } from "../peer/IngressBans.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as IpNetwork from "../../domain/network/IpNetwork.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { type AuditRow, empty, Journal } from "../../runtime/store/journal/Journal.ts"

/** How soon this process follows a change that another process made. */
const pollEvery = "2 seconds"
/** The most operator bans in force at once. */
const maxBans = 10_000

/** A ban as the operator gives it. With `forSecs` null it lasts until it is removed. */
interface NewBan {
  /** An address, or a network in CIDR form. */
  readonly network: string
  readonly reason: string
  readonly forSecs: number | null
}

type Change = AuditRow["changes"][number]

interface Row {
  readonly network: string
  readonly reason: string
  readonly createdAt: number
  readonly expiresAt: number | null
}

/**
 * The addresses that the SIP port ignores (guide/sip.md#bans): the operator's bans, which are rows, and the automatic
 * bans that carriers put on loud strangers. Bans never apply to a known peer: its route is disabled instead.
 *
 * A change by this process takes effect at once, a change by another process within seconds.
 */
export class Bans extends Context.Service<
  Bans,
  {
    /** The bans in force: the operator's, oldest first, then the automatic ones. */
    readonly list: Effect.Effect<ReadonlyArray<Ban>>
    /**
     * Replaces the reason and the end of an existing ban. Fails with 400 for a malformed network, 409 beyond `maxBans`.
     */
    readonly add: (ban: NewBan) => Effect.Effect<Ban, ApiError>
    /**
     * Removes the operator's ban of this network and the automatic bans within it. Fails with 404 when there is none.
     */
    readonly remove: (network: string) => Effect.Effect<{ readonly removed: number }, ApiError>
    readonly loudest: Effect.Effect<ReturnType<IngressBans["Service"]["loudest"]>>
  }
>()("trunkline/ban/Bans") {
  static readonly layer = Layer.effect(
    Bans,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const perimeter = yield* IngressBans
      const journal = yield* Journal
      const entropy = yield* Entropy
      const reading = yield* Semaphore.make(1)
      /** The version of the list that the carriers have; -1 when they have none. */
      let held = -1

      const standing = Effect.map(
        sql<Row>`
          SELECT network, reason, created_at, expires_at
          FROM ban WHERE expires_at IS NULL OR expires_at > now() ORDER BY created_at, network LIMIT ${maxBans}`,
        (rows) => rows.map((row): Ban => ({ ...row, by: "operator" }))
      )

      const refresh = Semaphore.withPermits(
        reading,
        1
      )(
        Effect.gen(function* () {
          const [row] = yield* sql<{ readonly version: number }>`SELECT version FROM ban_version`
          const version = row?.version ?? 0
          if (version === held) return
          perimeter.take(yield* standing)
          held = version
        })
      )
      yield* Supervised.fork(
        "the list of bans",
        Effect.repeat(
          // Bans stay in force while the database is away. The outage is reported elsewhere.
          Effect.catchCause(refresh, (cause) => Effect.logDebug("the bans could not be read", cause)),
          Schedule.spaced(pollEvery)
        )
      )

      /** The ban list belongs to no tenant, so its audit line has none either. */
      const record = Effect.fnUntraced(function* (
        network: string,
        action: "added" | "removed",
        at: number,
        changes: ReadonlyArray<Change>
      ) {
        const line = Audit.line({
          tenantId: null,
          at,
          seed: entropy.hex(16),
          actor: yield* Audit.operator,
          action: `ban.${action}`,
          resourceType: "ban",
          resourceId: network,
          changes
        })
        return yield* journal.commitWithin({ ...empty, audit: [line] })
      })

      const spelled = (network: string) => {
        const parsed = IpNetwork.parse(network)
        return parsed === null
          ? Effect.fail(ApiError.of("invalid_request", `"${network}" is neither an address nor a network (a.b.c.d/n)`))
          : Effect.succeed(parsed.text)
      }

      return Bans.of({
        list: Effect.map(Effect.orDie(standing), (rows) => [...rows, ...perimeter.automatic()]),
        add: Effect.fn("Bans.add")(function* ({ forSecs, network, reason }) {
          const text = yield* spelled(network)
          const at = yield* Clock.currentTimeMillis
          const expiresAt = forSecs === null ? null : at + forSecs * 1000
          yield* Effect.gen(function* () {
            yield* sql`DELETE FROM ban WHERE expires_at <= now()`
            const [row] = yield* sql<{ readonly count: number }>`
              SELECT count(*) AS count FROM ban WHERE network <> ${text}`
            if ((row?.count ?? 0) >= maxBans)
              return yield* ApiError.of("conflict", `${maxBans} bans stand: ban a network instead, or remove some`)
            yield* sql`
              INSERT INTO ban (network, reason, created_at, expires_at)
              VALUES (${text}, ${reason}, ${timestamptz(at)}, ${timestamptz(expiresAt)})
              ON CONFLICT (network) DO UPDATE SET reason = excluded.reason, created_at = excluded.created_at,
                expires_at = excluded.expires_at`
            yield* record(text, "added", at, [
              { field: "reason", from: null, to: reason },
              { field: "expires_at", from: null, to: expiresAt === null ? null : Timestamp.format(expiresAt) }
            ])
          }).pipe(
            sql.withTransaction,
            Effect.catchTag("SqlError", (error) => Effect.die(error))
          )
          yield* Effect.orDie(refresh)
          return { network: text, by: "operator", reason, createdAt: at, expiresAt }
        }),
        remove: Effect.fn("Bans.remove")(function* (network) {
          const text = yield* spelled(network)
          const at = yield* Clock.currentTimeMillis
          const lifted = perimeter.lift(text)
          const removed = yield* Effect.gen(function* () {
            const rows = yield* sql`DELETE FROM ban WHERE network = ${text} RETURNING network`
            const removed = rows.length + lifted
            if (removed > 0) yield* record(text, "removed", at, [{ field: "bans", from: removed, to: 0 }])
            return removed
          }).pipe(sql.withTransaction, Effect.orDie)
          if (removed === 0) return yield* ApiError.of("not_found", `${text} is not banned; "ban list" shows what is`)
          yield* Effect.orDie(refresh)
          return { removed }
        }),
        loudest: Effect.sync(() => perimeter.loudest())
      })
    })
  )
}
