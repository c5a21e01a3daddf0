import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { init } from "./migration/0001_init.ts"
import { partition } from "./migration/0002_partition.ts"
import { job } from "./migration/0003_job.ts"
import { time } from "./migration/0004_time.ts"
import { trunkHost } from "./migration/0005_trunk_host.ts"
import { fanOut } from "./migration/0006_fan_out.ts"
import { edge } from "./migration/0007_edge.ts"
import { outage } from "./migration/0008_outage.ts"
import { owner } from "./migration/0009_owner.ts"
import { money } from "./migration/0010_money.ts"
import { retention } from "./migration/0011_retention.ts"
import { trunkLimit } from "./migration/0012_trunk_limit.ts"
import { workPrice } from "./migration/0013_work_price.ts"
import { recording } from "./migration/0015_recording.ts"
import { transcription } from "./migration/0016_transcription.ts"
import { machineDetection } from "./migration/0018_machine_detection.ts"
import { deliveryClock } from "./migration/0022_delivery_clock.ts"
import { funding } from "./migration/0030_funding.ts"
import { cardEntries } from "./migration/0031_card_entries.ts"
import { proof } from "./migration/0033_proof.ts"
import { invoice } from "./migration/0034_invoice.ts"
import { plan } from "./migration/0035_plan.ts"
import { number } from "./migration/0036_number.ts"
import { letter } from "./migration/0039_letter.ts"
import { team } from "./migration/0040_team.ts"
import { usage } from "./migration/0042_usage.ts"
import { rateDeck } from "./migration/0043_rate_deck.ts"
import { accountAlarm } from "./migration/0044_account_alarm.ts"
import { porting } from "./migration/0045_porting.ts"
import { trunkCost } from "./migration/0047_trunk_cost.ts"
import { payout } from "./migration/0052_payout.ts"
import { planLimit } from "./migration/0054_plan_limit.ts"
import { conference } from "./migration/0055_conference.ts"
import { conferenceFoldedName } from "./migration/0056_conference_folded_name.ts"
import { sealCalls } from "./migration/0057_seal_calls.ts"
import { trunkLeg } from "./migration/0058_trunk_leg.ts"
import { canonicalEmail } from "./migration/0059_canonical_email.ts"
import { StatementLimit } from "./StatementLimit.ts"

const all = {
  "0001_init": init,
  "0002_partition": partition,
  "0003_job": job,
  "0004_time": time,
  "0005_trunk_host": trunkHost,
  "0006_fan_out": fanOut,
  "0007_edge": edge,
  "0008_outage": outage,
  "0009_owner": owner,
  "0010_money": money,
  "0011_retention": retention,
  "0012_trunk_limit": trunkLimit,
  "0013_work_price": workPrice,
  "0015_recording": recording,
  "0016_transcription": transcription,
  "0018_machine_detection": machineDetection,
  "0022_delivery_clock": deliveryClock,
  "0030_funding": funding,
  "0031_card_entries": cardEntries,
  "0033_proof": proof,
  "0034_invoice": invoice,
  "0035_plan": plan,
  "0036_number": number,
  "0039_letter": letter,
  "0040_team": team,
  "0042_usage": usage,
  "0043_rate_deck": rateDeck,
  "0044_account_alarm": accountAlarm,
  "0045_porting": porting,
  "0047_trunk_cost": trunkCost,
  "0052_payout": payout,
  "0054_plan_limit": planLimit,
  "0055_conference": conference,
  "0056_conference_folded_name": conferenceFoldedName,
  "0057_seal_calls": sealCalls,
  "0058_trunk_leg": trunkLeg,
  "0059_canonical_email": canonicalEmail
}

const idOf = (name: string): number => Number.parseInt(name, 10)
const known: ReadonlySet<number> = new Set(Object.keys(all).map(idOf))

/** The version of the schema that this program makes: its last migration. */
export const newest = Math.max(...known)

/** True when this program can make the schema that ends with this migration. */
export const knows = (id: number): boolean => known.has(id)

/**
 * A later version of this program has migrated the database, and this one could write rows that the later one cannot
 * read.
 */
export class SchemaUnknown extends Schema.TaggedError<SchemaUnknown>()("SchemaUnknown", { migration: Schema.String }) {
  override get message() {
    return (
      `the database was migrated by a newer version of this program (${this.migration}), which this one does not ` +
      `know: start that version, or restore a backup of this one`
    )
  }
}

/** Fails with `SchemaUnknown` when a migration was run that this program does not have. */
export const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql<{
    readonly found: boolean
  }>`SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS found`
  if (table?.found !== true) return
  const rows = yield* sql<{ readonly id: number; readonly name: string }>`
    SELECT migration_id AS id, name FROM effect_sql_migrations ORDER BY migration_id DESC`
  const unknown = rows.find(({ id }) => !known.has(id))
  if (unknown !== undefined)
    return yield* new SchemaUnknown({ migration: `${String(unknown.id).padStart(4, "0")}_${unknown.name}` })
})

/**
 * Runs the missing migrations up to `last`, under a lock, so that two processes may start at once. They have no time
 * limit.
 */
export const runTo = (last: number) =>
  Effect.andThen(
    check,
    Migrator.make({})({
      loader: Migrator.fromRecord(Object.fromEntries(Object.entries(all).filter(([name]) => idOf(name) <= last)))
    })
  ).pipe(Effect.provideService(StatementLimit, Infinity))

export const run = runTo(newest)
