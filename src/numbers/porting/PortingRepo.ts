import { Effect } from "effect"
import type { PortingDocumentId, PortingOrderId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import type * as PortingMachine from "./PortingMachine.ts"
import type { DocumentRow, DocumentStatus, EndUser, OrderRow, PortingStatus } from "./PortingView.ts"
import * as PortingView from "./PortingView.ts"

export interface OrderFilters {
  readonly status?: PortingStatus
}

/** An order with the fields that are never shown. */
export interface Stored {
  readonly row: OrderRow
  readonly state: PortingMachine.State
  readonly endUser: EndUser
}

interface Columns extends OrderRow {
  readonly beforeCancel: PortingMachine.State["beforeCancel"]
  readonly exceptionAt: number | null
  readonly accountSecret: string | null
}

interface Secrets {
  readonly accountNumber: string | null
  readonly pinPasscode: string | null
  /** Absent where the losing carrier contests nothing. */
  readonly contested?: PortingMachine.State["contested"]
}

/** The part of a document that is in memory at once, in bytes. */
const partBytes = 65_536

/** Rows of `porting_order` and its documents. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, column, count, done, equal, first, sql, value, values } = yield* Sql.make
  const vault = yield* Vault
  const read = yield* Listing.reader

  const shown = sql`id, tenant_id, status, details, numbers, end_user,
    requested_foc_at, foc_at, losing_carrier, route_id,
    customer_reference, parent_id,
    submitted_at, ported_at, cancelled_at,
    created_at, updated_at`
  const whole = sql`${shown}, before_cancel, exception_at, account_secret`
  const documentColumns = sql`id, porting_order_id, document_type, filename, content_type, size_bytes, sha256, status,
    created_at`

  /** An account number and a PIN are short: a hash of a contested one would reveal it, so its value is sealed, too. */
  const sealed = (
    { accountNumber, pinPasscode }: EndUser,
    contested: PortingMachine.State["contested"]
  ): string | null =>
    accountNumber === null && pinPasscode === null && contested.length === 0
      ? null
      : vault.seal(
          JSON.stringify({
            accountNumber,
            pinPasscode,
            ...(contested.length === 0 ? {} : { contested })
          } satisfies Secrets)
        )

  const visible = ({ accountNumber: _account, pinPasscode: _pin, ...rest }: EndUser) => JSON.stringify(rest)

  const storedOf = ({ accountSecret, beforeCancel, exceptionAt, ...row }: Columns): Stored => {
    const { contested = [], ...secrets }: Secrets =
      accountSecret === null
        ? { accountNumber: null, pinPasscode: null }
        : (JSON.parse(vault.open(accountSecret)) as Secrets)
    const { cancelledAt, details, focAt, losingCarrier, portedAt, status, submittedAt } = row
    return {
      row,
      endUser: { ...row.endUser, ...secrets },
      state: {
        status,
        details,
        contested,
        focAt,
        losingCarrier,
        submittedAt,
        exceptionAt,
        portedAt,
        cancelledAt,
        beforeCancel
      }
    }
  }

  return {
    insert: (row: OrderRow, endUser: EndUser) =>
      done`
        INSERT INTO porting_order (id, tenant_id, status, details, end_user, account_secret, numbers,
          requested_foc_at, route_id, customer_reference, parent_id, created_at, updated_at)
        VALUES (${row.id}, ${row.tenantId}, ${row.status}, '[]', ${visible(endUser)}::text::jsonb, ${sealed(endUser, [])},
          ${JSON.stringify(row.numbers)}::text::jsonb, ${timestamptz(row.requestedFocAt)}, ${row.routeId},
          ${row.customerReference}, ${row.parentId}, ${timestamptz(row.createdAt)}, ${timestamptz(row.updatedAt)})`,

    /** The number of the tenant's orders that have not ended. */
    countOpen: (tenantId: TenantId) =>
      count`
        SELECT count(*) AS open FROM porting_order
        WHERE tenant_id = ${tenantId} AND status NOT IN ('ported', 'cancelled')`,

    /** Locks an order until the transaction ends. `tenantId` null is the operator, for any tenant's order. */
    lock: (tenantId: TenantId | null, id: PortingOrderId) =>
      Effect.map(
        all<Columns>`
          SELECT ${whole} FROM porting_order
          WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`} FOR UPDATE`,
        ([found]) => (found === undefined ? null : storedOf(found))
      ),

    save: (row: OrderRow, state: PortingMachine.State, endUser: EndUser) =>
      done`
        UPDATE porting_order SET status = ${state.status}, details = ${JSON.stringify(state.details)}::text::jsonb,
          end_user = ${visible(endUser)}::text::jsonb,
          account_secret = ${sealed(endUser, state.contested)}, numbers = ${JSON.stringify(row.numbers)}::text::jsonb,
          requested_foc_at = ${timestamptz(row.requestedFocAt)}, foc_at = ${timestamptz(state.focAt)},
          losing_carrier = ${state.losingCarrier}, route_id = ${row.routeId},
          customer_reference = ${row.customerReference}, before_cancel = ${state.beforeCancel},
          submitted_at = ${timestamptz(state.submittedAt)}, exception_at = ${timestamptz(state.exceptionAt)},
          ported_at = ${timestamptz(state.portedAt)}, cancelled_at = ${timestamptz(state.cancelledAt)},
          updated_at = ${timestamptz(row.updatedAt)}
        WHERE id = ${row.id}`,

    remove: (id: PortingOrderId) => done`DELETE FROM porting_order WHERE id = ${id}`,

    find: (tenantId: TenantId | null, id: PortingOrderId) =>
      first<OrderRow>`
        SELECT ${shown} FROM porting_order
        WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}`,

    list: (tenantId: TenantId, { status }: OrderFilters, window: Listing.Window) =>
      read({
        tenantId,
        columns: shown,
        from: "porting_order",
        filters: equal({ status }),
        window,
        item: (row: OrderRow) => PortingView.order(row, [])
      }),

    /** The orders that the operator has to work on, the one that has waited longest first. */
    queue: (status: PortingStatus | null, limit: number) =>
      all<OrderRow>`
        SELECT ${shown} FROM porting_order
        WHERE ${status === null ? sql`status IN ('submitted', 'foc_confirmed', 'cancel_pending')` : sql`status = ${status}`}
        ORDER BY updated_at, id LIMIT ${limit}`,

    /** Orders whose exception is older than `before`. */
    unanswered: (before: number, limit: number) =>
      column<PortingOrderId>`
        SELECT id FROM porting_order WHERE status = 'exception' AND exception_at <= ${timestamptz(before)}
        ORDER BY exception_at LIMIT ${limit}`,

    documents: (orderId: PortingOrderId) =>
      all<DocumentRow>`
        SELECT ${documentColumns} FROM porting_document WHERE porting_order_id = ${orderId} ORDER BY created_at, id`,

    /** The bytes of all documents of a tenant. */
    documentBytes: (tenantId: TenantId) =>
      count`
        SELECT coalesce(sum(document.size_bytes), 0) AS bytes
        FROM porting_order JOIN porting_document document ON document.porting_order_id = porting_order.id
        WHERE porting_order.tenant_id = ${tenantId}`,

    findDocument: (tenantId: TenantId | null, id: PortingDocumentId) =>
      first<DocumentRow>`
        SELECT ${documentColumns} FROM porting_document
        WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}`,

    insertDocument: (tenantId: TenantId, row: DocumentRow, bytes: Uint8Array) =>
      Effect.gen(function* () {
        yield* done`
          INSERT INTO porting_document ${values({ tenantId, ...row })}`
        for (let from = 0; from < bytes.length; from += partBytes) {
          const part = bytes.subarray(from, from + partBytes)
          yield* done`
            INSERT INTO porting_document_part (document_id, part, bytes)
            VALUES (${row.id}, ${from / partBytes}, ${part})`
        }
      }),

    /** One part of a document's bytes, from 0 on; null after the last. */
    part: (id: PortingDocumentId, part: number) =>
      value<Uint8Array>`SELECT bytes FROM porting_document_part WHERE document_id = ${id} AND part = ${part}`,

    judge: (id: PortingDocumentId, status: DocumentStatus) =>
      done`UPDATE porting_document SET status = ${status} WHERE id = ${id}`
  }
})
