import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import * as Id from "../../../domain/Id.ts"
import {
  Porting,
  DocumentStatus,
  ExceptionCode,
  type PortingOrderView,
  PortingStatus
} from "../../../numbers/porting/Porting.ts"
import * as Operation from "../door/Operation.ts"

const one = { order_id: Id.spelled("port") }
const document = { document_id: Id.spelled("doc") }
const defaultRows = 100

/** A field each, for the terminal. */
const shown = ({
  documents,
  end_user: _endUser,
  phone_numbers: numbers,
  status_details: details,
  ...order
}: PortingOrderView) => ({
  ...order,
  phone_numbers: numbers.map(({ phone_number }) => phone_number).join(" "),
  status_details: details.map(({ code, description }) => `${code}: ${description}`).join("; "),
  documents: documents.map(({ document_type, id, status }) => `${id} ${document_type} ${status}`).join("; ")
})

/** `port …`: what the operator does for numbers that move here, guide/operation.md#porting. */
export const make = Effect.map(Porting, (porting) => [
  Operation.make(
    "port/list",
    Schema.Struct({ status: Schema.optionalKey(PortingStatus), limit: Schema.optionalKey(Operation.PageLimit) }),
    ({ limit, status }) =>
      Effect.map(porting.queue(status ?? null, limit ?? defaultRows), (rows) => ({
        results: rows.map((row) => ({
          id: row.id,
          status: row.status,
          tenant_id: row.tenantId,
          phone_numbers: row.numbers.map(({ phoneNumber }) => phoneNumber).join(" "),
          requested_foc_at: Timestamp.formatOrNull(row.requestedFocAt),
          foc_at: Timestamp.formatOrNull(row.focAt),
          updated_at: Timestamp.format(row.updatedAt)
        }))
      }))
  ),
  Operation.make("port/show", Schema.Struct(one), ({ order_id: id }) =>
    Effect.map(porting.inspect(id), ({ accountNumber, order, pinPasscode, tenantId }) => ({
      tenant_id: tenantId,
      ...order,
      end_user: { ...order.end_user, account_number: accountNumber, pin_passcode: pinPasscode }
    }))
  ),
  Operation.make("port/document", Schema.Struct(document), ({ document_id: id }) =>
    Effect.map(porting.file(null, id), ({ body, document: { contentType, sizeBytes } }) =>
      HttpServerResponse.stream(body, { contentType, contentLength: sizeBytes })
    )
  ),
  Operation.make("port/judge", Schema.Struct({ ...document, status: DocumentStatus }), ({ document_id: id, status }) =>
    porting.judge(id, status)
  ),
  Operation.make(
    "port/exception",
    Schema.Struct({
      ...one,
      code: ExceptionCode,
      description: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(500))
    }),
    ({ code, description, order_id: id }) =>
      Effect.map(porting.told(id, { type: "exception", details: [{ code, description }] }), shown)
  ),
  Operation.make(
    "port/foc",
    Schema.Struct({
      ...one,
      at: Operation.Moment,
      losing_carrier: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))
    }),
    ({ at, losing_carrier: losingCarrier, order_id: id }) =>
      Effect.map(porting.told(id, { type: "foc", at, losingCarrier: losingCarrier ?? null }), shown)
  ),
  Operation.make("port/complete", Schema.Struct(one), ({ order_id: id }) =>
    Effect.map(porting.told(id, { type: "complete" }), shown)
  ),
  Operation.make(
    "port/cancel",
    Schema.Struct({ ...one, refused: Schema.optionalKey(Schema.Boolean) }),
    ({ order_id: id, refused }) =>
      Effect.map(porting.told(id, { type: refused === true ? "cancel_refused" : "carrier_cancelled" }), shown)
  )
])
