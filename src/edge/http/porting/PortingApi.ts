import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { KeptE164 } from "../../../domain/E164.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import {
  DocumentBytes,
  DocumentType,
  EndUser,
  EndUserChange,
  Portability,
  PortingDocument,
  PortingOrder,
  PortingStatus
} from "../../../numbers/porting/Porting.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints, noBody } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import { body, matching, of, only, optional } from "../../../domain/schema/RequestField.ts"

/** Numbers that move here from another carrier, guide/porting.md. */

const { get, list, patch, post, remove } = endpoints({ reads: "numbers:read", writes: "numbers:write" })

const params = { id: PathId.prefixed("port").annotate({ description: "The porting order." }) }

const numbers = (maximum: number) =>
  of(Schema.Array(KeptE164).check(Schema.isMinLength(1), Schema.isMaxLength(maximum)), "Each once, E.164.", [
    "+12155550123"
  ])

const route = of(Schema.NullOr(PathId.prefixed("route")), "The connection of their calls; null: the default one.", null)
const wanted = "When the numbers should move; the losing carrier decides. Null: as soon as it can."
const moment = Schema.NullOr(Query.timestamp(wanted)).pipe(
  Schema.annotateEncoded({
    description: `${wanted} RFC 3339, with \`Z\` or an offset.`,
    examples: ["2030-01-15T15:00:00.000Z"]
  })
)
const reference = of(Schema.NullOr(Text.of(0, 128)), "Shown on the order and its numbers.", "move 7")

/** A file of 10 MiB has 14 million characters as base64. */
const documentBytes = Math.ceil(DocumentBytes.maxBytes / 3) * 4 + 65_536

export class PortingApi extends HttpApiGroup.make("porting")
  .add(
    post("check", "/v1/porting/check", "Check whether numbers can be ported here", {
      payload: Wire.struct({ phoneNumbers: numbers(100) }).pipe(
        Schema.annotateEncoded({ identifier: "CheckPortability" })
      ),
      success: Pagination.envelope(Portability),
      scope: "numbers:read",
      description: "By the numbering plans and the prices of this service; the losing carrier decides in the end."
    }),
    post("create", "/v1/porting/orders", "Begin to port numbers", {
      payload: body("CreatePortingOrder", {
        phoneNumbers: numbers(50),
        customerReference: Wire.absentIs(null, reference),
        endUser: Wire.absentIs({}, EndUser),
        requestedFocAt: Wire.absentIs(null, moment),
        routeId: Wire.absentIs(null, route)
      }),
      success: PortingOrder.pipe(HttpApiSchema.status(201)),
      description: "A `draft`: nobody is asked before it is submitted.",
      errors: ["unprocessable", "not_found", "porting_not_supported", "porting_in_progress", "conflict"]
    }),
    list("list", "/v1/porting/orders", "List porting orders", PortingOrder, {
      filters: { status: only(PortingStatus, "Only with this status.") },
      description: "Newest first, without documents."
    }),
    get("retrieve", "/v1/porting/orders/:id", "Retrieve a porting order", { params, success: PortingOrder }),
    patch("update", "/v1/porting/orders/:id", "Change a porting order", {
      params,
      payload: body("UpdatePortingOrder", {
        phoneNumbers: Schema.optionalKey(numbers(50)),
        customerReference: Schema.optionalKey(reference),
        endUser: Schema.optionalKey(EndUserChange),
        requestedFocAt: Schema.optionalKey(moment),
        routeId: Schema.optionalKey(route)
      }),
      success: PortingOrder,
      description: "A `draft`, or, without its numbers, an `exception`. What is left out stays.",
      errors: ["unprocessable", "conflict", "porting_not_supported", "porting_in_progress"]
    }),
    remove("remove", "/v1/porting/orders/:id", "Give up a draft or an exception", {
      params,
      description: "A draft is forgotten with its documents; an exception becomes `cancelled`.",
      errors: ["conflict"]
    }),
    post("submit", "/v1/porting/orders/:id/submit", "Submit a porting order", {
      params,
      payload: noBody,
      success: PortingOrder,
      description: "From a `draft`, or again from an `exception`. It needs a `loa` and an `invoice`.",
      errors: [
        "unprocessable",
        "documents_required",
        "csr_mismatch",
        "conflict",
        "porting_in_progress",
        "porting_not_supported"
      ]
    }),
    post("cancel", "/v1/porting/orders/:id/cancel", "Cancel a porting order", {
      params,
      payload: noBody,
      success: PortingOrder,
      description: "While the losing carrier works at it, it is `cancel_pending` until that has agreed.",
      errors: ["conflict"]
    }),
    post("add_document", "/v1/porting/orders/:id/documents", "Add a document to a porting order", {
      params,
      payload: body("AddPortingDocument", {
        documentType: of(DocumentType, "What it is.", "loa"),
        filename: of(
          matching(/^[\p{L}\p{N} ._()+-]{1,128}$/u, "must be 1 to 128 letters, digits, spaces and . _ ( ) + -"),
          "For people; the kind of file is found by its bytes.",
          "loa.pdf"
        ),
        contentBase64: optional(Schema.String, "The file, 10 MiB at most; this or `url`.", "JVBERi0xLjcK"),
        url: Schema.optionalKey(Text.httpsUrl("Where the file is fetched, once.", "https://example.com/loa.pdf"))
      }),
      success: PortingDocument.pipe(HttpApiSchema.status(201)),
      description: "PDF, JPEG, PNG or TIFF, as its own bytes tell.",
      bodyBytes: documentBytes,
      fileField: "content_base64",
      // The composed example would have both the file and its URL.
      example: { request: { document_type: "loa", filename: "loa.pdf", content_base64: "JVBERi0xLjcK" } },
      errors: ["unprocessable", "invalid_target_url", "conflict"]
    }),
    list("documents", "/v1/porting/orders/:id/documents", "List the documents of a porting order", PortingDocument, {
      params,
      errors: ["not_found"]
    }),
    get("download", "/v1/porting/documents/:id", "Download a document", {
      params: { id: PathId.prefixed("doc").annotate({ description: "The document." }) },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      description: "The file itself, as an attachment."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({ title: "Porting", description: "Numbers that move here from another carrier." })
  ) {}
