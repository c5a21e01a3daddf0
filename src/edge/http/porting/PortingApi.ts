import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { E164 } from "../../../domain/E164.ts"
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
import { about, noBody } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"

/** Numbers that move here from another carrier, guide/porting.md. */

const params = { id: PathId.prefixed("port").annotate({ description: "The porting order." }) }

const numbers = (maximum: number) =>
  Schema.Array(E164)
    .check(Schema.isMinLength(1), Schema.isMaxLength(maximum))
    .annotate({ description: "Each once, E.164.", examples: [["+12155550123"]] })

const route = Schema.NullOr(PathId.prefixed("route")).annotate({
  description: "The connection of their calls; null: the default one.",
  examples: [null]
})
const wanted = "When the numbers should move; the losing carrier decides. Null: as soon as it can."
const moment = Schema.NullOr(Query.timestamp(wanted)).pipe(
  Schema.annotateEncoded({
    description: `${wanted} RFC 3339, with \`Z\` or an offset.`,
    examples: ["2030-01-15T15:00:00.000Z"]
  })
)
const reference = Schema.NullOr(Text.of(0, 128)).annotate({
  description: "Shown on the order and its numbers.",
  examples: ["move 7"]
})

const check = HttpApiEndpoint.post("check", "/v1/porting/check", {
  payload: Wire.struct({ phoneNumbers: numbers(100) }).pipe(Schema.annotateEncoded({ identifier: "CheckPortability" })),
  success: Pagination.envelope(Portability)
}).annotateMerge(
  about({
    summary: "Check whether numbers can be ported here",
    description: "By the numbering plans and the prices of this service; the losing carrier decides in the end.",
    scope: "numbers:read"
  })
)

const create = HttpApiEndpoint.post("create", "/v1/porting/orders", {
  payload: Wire.struct({
    phoneNumbers: numbers(50),
    customerReference: Wire.absentIs(null, reference),
    endUser: Wire.absentIs({}, EndUser),
    requestedFocAt: Wire.absentIs(null, moment),
    routeId: Wire.absentIs(null, route)
  }).pipe(Schema.annotateEncoded({ identifier: "CreatePortingOrder" })),
  success: PortingOrder.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Begin to port numbers",
    description: "A `draft`: nobody is asked before it is submitted.",
    scope: "numbers:write",
    errors: ["unprocessable", "not_found", "porting_not_supported", "porting_in_progress", "conflict"]
  })
)

const list = HttpApiEndpoint.get("list", "/v1/porting/orders", {
  query: Wire.struct({
    status: Schema.optionalKey(PortingStatus.annotate({ description: "Only with this status." })),
    ...Pagination.parameters
  }),
  success: Pagination.envelope(PortingOrder)
}).annotateMerge(
  about({ summary: "List porting orders", description: "Newest first, without documents.", scope: "numbers:read" })
)

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/porting/orders/:id", {
  params,
  success: PortingOrder
}).annotateMerge(about({ summary: "Retrieve a porting order", scope: "numbers:read" }))

const update = HttpApiEndpoint.patch("update", "/v1/porting/orders/:id", {
  params,
  payload: Wire.struct({
    phoneNumbers: Schema.optionalKey(numbers(50)),
    customerReference: Schema.optionalKey(reference),
    endUser: Schema.optionalKey(EndUserChange),
    requestedFocAt: Schema.optionalKey(moment),
    routeId: Schema.optionalKey(route)
  }).pipe(Schema.annotateEncoded({ identifier: "UpdatePortingOrder" })),
  success: PortingOrder
}).annotateMerge(
  about({
    summary: "Change a porting order",
    description: "A `draft`, or, without its numbers, an `exception`. What is left out stays.",
    scope: "numbers:write",
    errors: ["unprocessable", "conflict", "porting_not_supported", "porting_in_progress"]
  })
)

const remove = HttpApiEndpoint.delete("remove", "/v1/porting/orders/:id", {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Give up a draft or an exception",
    description: "A draft is forgotten with its documents; an exception becomes `cancelled`.",
    scope: "numbers:write",
    errors: ["conflict"]
  })
)

const submit = HttpApiEndpoint.post("submit", "/v1/porting/orders/:id/submit", {
  params,
  payload: noBody,
  success: PortingOrder
}).annotateMerge(
  about({
    summary: "Submit a porting order",
    description: "From a `draft`, or again from an `exception`. It needs a `loa` and an `invoice`.",
    scope: "numbers:write",
    errors: [
      "unprocessable",
      "documents_required",
      "csr_mismatch",
      "conflict",
      "porting_in_progress",
      "porting_not_supported"
    ]
  })
)

const cancel = HttpApiEndpoint.post("cancel", "/v1/porting/orders/:id/cancel", {
  params,
  payload: noBody,
  success: PortingOrder
}).annotateMerge(
  about({
    summary: "Cancel a porting order",
    description: "While the losing carrier works at it, it is `cancel_pending` until that has agreed.",
    scope: "numbers:write",
    errors: ["conflict"]
  })
)

/** A file of 10 MiB has 14 million characters as base64. */
const documentBytes = Math.ceil(DocumentBytes.maxBytes / 3) * 4 + 65_536

const addDocument = HttpApiEndpoint.post("add_document", "/v1/porting/orders/:id/documents", {
  params,
  payload: Wire.struct({
    documentType: DocumentType.annotate({ description: "What it is.", examples: ["loa"] }),
    filename: Schema.String.check(
      Schema.isPattern(/^[\p{L}\p{N} ._()+-]{1,128}$/u, {
        message: "must be 1 to 128 letters, digits, spaces and . _ ( ) + -"
      })
    ).annotate({ description: "For people; the kind of file is found by its bytes.", examples: ["loa.pdf"] }),
    contentBase64: Schema.optionalKey(
      Schema.String.annotate({ description: "The file, 10 MiB at most; this or `url`.", examples: ["JVBERi0xLjcK"] })
    ),
    url: Schema.optionalKey(Text.httpsUrl("Where the file is fetched, once.", "https://example.com/loa.pdf"))
  }).pipe(Schema.annotateEncoded({ identifier: "AddPortingDocument" })),
  success: PortingDocument.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Add a document to a porting order",
    description: "PDF, JPEG, PNG or TIFF, as its own bytes tell.",
    scope: "numbers:write",
    bodyBytes: documentBytes,
    fileField: "content_base64",
    errors: ["unprocessable", "invalid_target_url", "conflict"]
  })
)

const documents = HttpApiEndpoint.get("documents", "/v1/porting/orders/:id/documents", {
  params,
  success: Pagination.envelope(PortingDocument)
}).annotateMerge(about({ summary: "List the documents of a porting order", scope: "numbers:read" }))

const download = HttpApiEndpoint.get("download", "/v1/porting/documents/:id", {
  params: { id: PathId.prefixed("doc").annotate({ description: "The document." }) },
  success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array())
}).annotateMerge(
  about({ summary: "Download a document", description: "The file itself, as an attachment.", scope: "numbers:read" })
)

export class PortingApi extends HttpApiGroup.make("porting")
  .add(check, create, list, retrieve, update, remove, submit, cancel, addDocument, documents, download)
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({ title: "Porting", description: "Numbers that move here from another carrier." })
  ) {}
