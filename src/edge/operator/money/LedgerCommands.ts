import { Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../../money/billing/Billing.ts"
import type { TenantId } from "../../../domain/Id.ts"
import { Funding } from "../../../money/funding/Funding.ts"
import { Proofs } from "../../../money/proof/Proof.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TextTable from "../command/TextTable.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

/** The number of entries in one read of an export. */
const portion = 5_000

interface Entry {
  readonly place: string
  readonly cents: number
  readonly line: string
}

interface Place {
  readonly ordinal: string
  readonly entries: number
  readonly cents: number
}

const entriesAfter = Effect.fnUntraced(function* (tenantId: TenantId, ordinal: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Entry>`
    SELECT ordinal::text AS place, amount_cents AS cents, jsonb_build_object('id', id, 'created_at', created_at,
      'type', type, 'amount_cents', amount_cents, 'balance_after_cents', balance_after_cents, 'cause', cause,
      'description', description, 'reference_type', reference_type, 'reference_id', reference_id)::text AS line
    FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${ordinal}::text::bigint ORDER BY ordinal LIMIT ${portion}`
})

/** Every entry as a line of JSON, the oldest first, then a line with their number and their sum. */
const linesOf = (tenantId: TenantId) =>
  Stream.paginate(
    { ordinal: "-1", entries: 0, cents: 0 },
    Effect.fnUntraced(function* (before: Place) {
      const rows = yield* entriesAfter(tenantId, before.ordinal)
      const place: Place = {
        ordinal: rows.at(-1)?.place ?? before.ordinal,
        entries: before.entries + rows.length,
        cents: rows.reduce((sum, { cents }) => sum + cents, before.cents)
      }
      const written = rows.map(({ line }) => `${line}\n`)
      if (rows.length === portion) return [written, Option.some(place)] as const
      const end = JSON.stringify({ end: true, entries: place.entries, sum_cents: place.cents })
      return [[...written, `${end}\n`], Option.none<Place>()] as const
    })
  )

/** The sums of the card processor, and where they differ from the ledger. */
const reconciled = Effect.fnUntraced(function* (tenantId: TenantId | null) {
  return yield* Effect.match((yield* Funding).reconcile(tenantId), {
    onFailure: ({ message }) => ({
      view: null,
      faults: [{ tenant_id: tenantId, code: "processor_unknown", message }]
    }),
    onSuccess: ({ exceptions, ...sums }) => ({
      view: sums,
      faults: exceptions.map((of) => ({
        tenant_id: of.tenant_id,
        code: "processor_differs",
        message:
          `of ${of.attempt_id ?? of.intent_id ?? "a payment"} the processor has ${of.processor_cents} cents` +
          `${(of.currency ?? "usd") === "usd" ? "" : ` of ${of.currency}`}, and the ledger ${of.ledger_cents}`
      }))
    })
  })
})

/** guide/operation.md#audit-and-ledger. */
export const commands = [
  Command.make("ledger list", {
    summary: "lists the entries of a tenant's ledger, the newest first",
    input: { tenant: TenantReference.required, ...Flag.created, limit: Flag.limit(50), after: Flag.after },
    columns: "created_at type amount_cents balance_after_cents description reference_id id",
    run: TenantReference.within(
      Effect.fnUntraced(function* (id, { after, limit, ...filters }) {
        const { next, results } = yield* (yield* Billing).ledger(id, filters, Flag.window(limit, after))
        return { next, results }
      })
    )
  }),
  Command.lines("ledger export", {
    summary:
      "writes the whole ledger of a tenant into a new file (JSON lines, gzip), the oldest first, with its sum at the end",
    input: { tenant: TenantReference.required },
    run: TenantReference.within((id) => Effect.succeed(linesOf(id)))
  }),
  Command.make(
    "ledger verify",
    {
      summary:
        "reads ledgers from their first entry on, against seals, balances, calls and the card processor; fails where something does not add up",
      input: { tenant: TenantReference.optional },
      run: Effect.fnUntraced(function* ({ tenant }) {
        const id = yield* TenantReference.idOrNull(tenant)
        const { faults, rootHash, ...counts } = yield* (yield* Proofs).verify(id)
        const processor = yield* reconciled(id)
        return {
          ...counts,
          root_hash: rootHash,
          processor: processor.view,
          faults: [
            ...faults.map(({ code, message, tenantId }) => ({ tenant_id: tenantId, code, message })),
            ...processor.faults
          ]
        }
      })
    },
    {
      print: ({ faults, ...rest }) =>
        [
          TextTable.fields(rest),
          faults.length === 0 ? "all adds up" : TextTable.table(["tenant_id", "code", "message"], faults)
        ].join("\n\n"),
      isSound: ({ faults }) => faults.length === 0
    }
  ),
  Command.make("ledger seal", {
    summary: "seals what was booked, where the day is not sealed yet; the service does it by itself once a day",
    run: () => Proofs.use((proofs) => Effect.as(proofs.seal, { sealed: true }))
  })
]
