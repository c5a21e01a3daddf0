import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Id from "../../../domain/Id.ts"
import {
  DocumentStatus,
  ExceptionCode,
  Porting,
  type PortingOrderView,
  PortingStatus
} from "../../../numbers/porting/Porting.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"

const orderId = Flag.argument("order", Id.spelled("port"), "the porting order")
const documentId = Flag.argument("document", Id.spelled("doc"), "the document, as port show names it")

/** The order with lists as text, so that each field fits on a line. */
const view = ({
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

/** Passes on what the losing carrier has decided. */
const told = Effect.fnUntraced(function* (...[id, news]: Parameters<Porting["Service"]["told"]>) {
  return view(yield* (yield* Porting).told(id, news))
})

/** guide/operation.md#porting. */
export const commands = [
  Command.make("port list", {
    summary: "lists porting orders that wait for you or the losing carrier, the longest first; or all of one status",
    input: { status: Flag.optional(PortingStatus, "all orders of this status"), limit: Flag.limit(100) },
    columns: "id status tenant_id phone_numbers requested_foc_at foc_at updated_at",
    run: Effect.fnUntraced(function* ({ limit, status = null }) {
      const rows = yield* (yield* Porting).queue(status, limit)
      return {
        results: rows.map((row) => ({
          ...Shown.of(row, "id status tenantId"),
          phone_numbers: row.numbers.map(({ phoneNumber }) => phoneNumber).join(" "),
          ...Shown.of(row, "requestedFocAt focAt updatedAt")
        }))
      }
    })
  }),
  Command.make(
    "port show",
    {
      summary: "shows a porting order with account number and PIN, for the losing carrier",
      input: { orderId },
      run: Effect.fnUntraced(function* ({ orderId }) {
        const { accountNumber, order, pinPasscode, tenantId } = yield* (yield* Porting).inspect(orderId)
        return {
          tenant_id: tenantId,
          ...order,
          end_user: { ...order.end_user, account_number: accountNumber, pin_passcode: pinPasscode }
        }
      })
    },
    { print: (answer) => JSON.stringify(answer, null, 2) }
  ),
  Command.make("port document", {
    summary: "saves a document of an order as a new file",
    input: { documentId },
    saves: "file",
    run: Effect.fnUntraced(function* ({ documentId }) {
      const { body, document } = yield* (yield* Porting).file(null, documentId)
      const { contentType, sizeBytes } = document
      return HttpServerResponse.stream(body, { contentType, contentLength: sizeBytes })
    })
  }),
  Command.make("port judge", {
    summary: "says what you found of a document",
    input: {
      documentId,
      status: Flag.argument("verified|rejected", DocumentStatus, "what you found")
    },
    run: ({ documentId, status }) => Porting.use((porting) => porting.judge(documentId, status))
  }),
  Command.make("port exception", {
    summary: "the losing carrier refuses; its tenant gets a letter and 14 days",
    input: {
      orderId,
      code: Flag.of(ExceptionCode, "what is wrong, as account_number_mismatch"),
      description: Flag.of(Flag.text(500), "what the carrier says", { flag: "reason" })
    },
    run: ({ code, description, orderId }) => told(orderId, { type: "exception", details: [{ code, description }] })
  }),
  Command.make("port foc", {
    summary: "the losing carrier has confirmed a date (RFC 3339), or another one",
    input: {
      orderId,
      at: Flag.time("when the numbers move"),
      losingCarrier: Flag.optional(Flag.name(200), "the name of the losing carrier", { flag: "carrier", value: "NAME" })
    },
    run: ({ at, losingCarrier = null, orderId }) => told(orderId, { type: "foc", at, losingCarrier })
  }),
  Command.make("port complete", {
    summary: "the numbers have moved: they are active from now on",
    input: { orderId },
    run: ({ orderId }) => told(orderId, { type: "complete" })
  }),
  Command.make("port cancel", {
    summary: "the losing carrier has cancelled, as its tenant asked or not; --refused: it will not cancel any more",
    input: { orderId, refused: Flag.on("the carrier does not cancel any more") },
    run: ({ orderId, refused }) => told(orderId, { type: refused ? "cancel_refused" : "carrier_cancelled" })
  })
]
