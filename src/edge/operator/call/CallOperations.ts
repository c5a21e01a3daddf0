import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../telephony/call/Call.ts"
import { E164 } from "../../../domain/E164.ts"
import * as Id from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { Retention } from "../../../runtime/retention/Retention.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"
import * as EndedCalls from "./EndedCalls.ts"
import * as CallTimeline from "./CallTimeline.ts"

/**
 * At most so many events, and so many deliveries, of one call are read. Events that are left out show as differences.
 */
const rowLimit = 10_000

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))

/** `call list`, `call show`, `call hangup`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const calls = yield* Calls
  const retention = yield* Retention

  const events = (callId: Id.CallId) =>
    sql<CallTimeline.StoredEvent>`
      SELECT id, sequence, type, (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt", body
      FROM event WHERE entity_id = ${callId} ORDER BY sequence LIMIT ${rowLimit}`

  const deliveries = (callId: Id.CallId) =>
    sql<CallTimeline.Delivery>`
      SELECT d.event_id AS "eventId", d.id AS "deliveryId", d.destination AS endpoint, d.attempt_no AS "attemptNo", d.status,
        d.response_status_code AS "responseStatusCode", d.error_message AS "errorMessage",
        (extract(epoch FROM d.sent_at) * 1000)::float8 AS "sentAt",
        (extract(epoch FROM d.next_retry_at) * 1000)::float8 AS "nextRetryAt"
      FROM event e JOIN webhook_delivery d ON d.event_id = e.id
      WHERE e.entity_id = ${callId} ORDER BY d.ordinal LIMIT ${rowLimit}`

  /** What is missing since rows of its age may be gone is no fault. */
  const gone = Effect.fnUntraced(function* (callId: Id.CallId, settled: boolean) {
    const [row] = yield* Effect.orDie(sql<{ readonly at: number }>`
      SELECT (extract(epoch FROM updated_at) * 1000)::float8 AS at FROM entity WHERE id = ${callId}`)
    const journalUntil = yield* retention.prunedUntil("journal")
    return {
      journal: settled && row !== undefined && journalUntil !== null && row.at < journalUntil,
      eventsBefore: yield* retention.prunedUntil("event")
    }
  })

  const show = Effect.fn("CallOperations.show")(function* (callId: Id.CallId) {
    const entity = yield* journal.find(callId)
    if (entity === null || entity.kind !== "call") return yield* ApiError.of("not_found", `no call ${callId}`)
    return CallTimeline.make(
      entity,
      yield* journal.inputs(callId),
      yield* Effect.orDie(events(callId)),
      yield* Effect.orDie(deliveries(callId)),
      yield* gone(callId, entity.settled)
    )
  })

  return [
    Operation.make(
      "call/hangup",
      Schema.Struct({
        call_id: Schema.optionalKey(Id.spelled("call")),
        tenant: Schema.optionalKey(Operation.TenantRef)
      }),
      Effect.fnUntraced(function* ({ call_id, tenant }) {
        if (call_id !== undefined && tenant === undefined) {
          const { end_initiator, end_reason, id, status } = yield* calls.hangUp(call_id)
          return { id, status, end_reason, end_initiator }
        }
        if (tenant === undefined || call_id !== undefined)
          return yield* ApiError.of("invalid_request", "either call_id or tenant is wanted")
        const { id } = yield* tenants.findByReference(tenant)
        return EndedCalls.view(yield* calls.endAll(id, "hung_up"))
      })
    ),
    Operation.make("call/show", Schema.Struct({ call_id: Id.spelled("call") }), ({ call_id }) => show(call_id)),
    Operation.make(
      "call/list",
      Schema.Struct({
        tenant: Operation.TenantRef,
        status: Schema.optionalKey(Schema.String),
        from: Schema.optionalKey(E164),
        to: Schema.optionalKey(E164),
        limit: Schema.optionalKey(Limit)
      }),
      Effect.fnUntraced(function* ({ from, limit = 50, status, tenant, to }) {
        const { id } = yield* tenants.findByReference(tenant)
        const filters = {
          ...(status === undefined ? {} : { status }),
          ...(from === undefined ? {} : { fromNumber: from }),
          ...(to === undefined ? {} : { toNumber: to })
        }
        return yield* calls.list(id, filters, { limit, offset: 0 })
      })
    )
  ]
})
