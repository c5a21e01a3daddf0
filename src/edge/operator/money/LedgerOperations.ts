import { Effect, Option, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Billing } from "../../../money/billing/Billing.ts"
import type { TenantId } from "../../../domain/Id.ts"
import { Funding } from "../../../money/funding/Funding.ts"
import { Proofs } from "../../../money/proof/Proof.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

/** Entries of one read of an export. */
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

/** `ledger list`, `ledger export`, `ledger verify`, `ledger seal`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const billing = yield* Billing
  const proofs = yield* Proofs
  const funding = yield* Funding
  const sql = yield* SqlClient.SqlClient

  const entries = (tenantId: TenantId, behind: string) => sql<Entry>`
    SELECT ordinal::text AS place, amount_cents::float8 AS cents, jsonb_build_object('id', id, 'created_at', created_at,
      'type', type, 'amount_cents', amount_cents, 'balance_after_cents', balance_after_cents, 'cause', cause,
      'description', description, 'reference_type', reference_type, 'reference_id', reference_id)::text AS line
    FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${behind}::text::bigint ORDER BY ordinal LIMIT ${portion}`

  /** Every entry as a line of JSON, the oldest first, then how many there were and their sum. */
  const lines = (tenantId: TenantId): Stream.Stream<string, SqlError> =>
    Stream.paginate({ ordinal: "-1", entries: 0, cents: 0 }, (before: Place) =>
      Effect.map(entries(tenantId, before.ordinal), (rows): readonly [ReadonlyArray<string>, Option.Option<Place>] => {
        const last = rows.at(-1)
        const place = {
          ordinal: last?.place ?? before.ordinal,
          entries: before.entries + rows.length,
          cents: rows.reduce((sum, { cents }) => sum + cents, before.cents)
        }
        const written = rows.map(({ line }) => `${line}\n`)
        return rows.length < portion
          ? [
              [...written, `${JSON.stringify({ end: true, entries: place.entries, sum_cents: place.cents })}\n`],
              Option.none()
            ]
          : [written, Option.some(place)]
      })
    )

  /** What the card processor says of it, and what is wrong with that. */
  const reconciled = (tenantId: TenantId | null) =>
    Effect.match(funding.reconcile(tenantId), {
      onFailure: ({ message }) => ({
        view: null,
        faults: [{ tenant_id: tenantId, code: "processor_unknown", message }]
      }),
      onSuccess: ({ exceptions, ...sums }) => ({
        view: sums,
        faults: exceptions.map((of) => ({
          tenant_id: of.tenant_id,
          code: "processor_differs",
          message: `of ${of.attempt_id ?? of.intent_id ?? "a payment"} the processor has ${of.processor_cents} cents, and the ledger ${of.ledger_cents}`
        }))
      })
    })

  return [
    Operation.make(
      "ledger/list",
      Schema.Struct({
        tenant: Operation.TenantRef,
        created_after: Schema.optionalKey(Operation.Moment),
        created_before: Schema.optionalKey(Operation.Moment),
        limit: Schema.optionalKey(Operation.PageLimit),
        after: Schema.optionalKey(Schema.String)
      }),
      Effect.fnUntraced(function* ({ after, created_after, created_before, limit = 50, tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        const { next, results } = yield* billing.ledger(
          id,
          {
            ...(created_after === undefined ? {} : { createdAfterMs: created_after }),
            ...(created_before === undefined ? {} : { createdBeforeMs: created_before })
          },
          { limit, offset: 0, ...(after === undefined ? {} : { after }) }
        )
        return { next, results }
      })
    ),
    Operation.make(
      "ledger/export",
      Schema.Struct({ tenant: Operation.TenantRef }),
      Effect.fnUntraced(function* ({ tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        return HttpServerResponse.stream(
          lines(id).pipe(
            Stream.tapError((error) => Effect.logError("an export of a ledger was cut short", error)),
            Stream.encodeText
          ),
          { contentType: "application/x-ndjson" }
        )
      })
    ),
    Operation.make(
      "ledger/verify",
      Schema.Struct({ tenant: Schema.optionalKey(Operation.TenantRef) }),
      Effect.fnUntraced(function* ({ tenant }) {
        const id = tenant === undefined ? null : (yield* tenants.findByReference(tenant)).id
        const { faults, rootHash, ...counts } = yield* proofs.verify(id)
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
    ),
    Operation.make("ledger/seal", Operation.Nothing, () => Effect.as(proofs.seal, { sealed: true }))
  ]
})
