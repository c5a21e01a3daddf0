import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AuditLine } from "../../../runtime/audit/Audit.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as Query from "../request/Query.ts"

/** The audit log, guide/tenants.md#audit. */

const text = (description: string, example: string, ...form: ReadonlyArray<Check>) =>
  Schema.optionalKey(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200), ...form).annotate({
      description,
      examples: [example]
    })
  )
type Check = ReturnType<typeof Schema.isPattern>

/** A misspelled filter is refused, because an empty list would suggest that nothing has happened. */
const aResource = Schema.isPattern(/^[a-z]+(_[a-z]+)*$/u, { message: "must be a kind of resource, as call" })
const anAction = Schema.isPattern(/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/u, {
  message: "must be a resource and what happened to it, as call.status_changed"
})

const list = HttpApiEndpoint.get("list", "/v1/audit", {
  query: Wire.struct(
    {
      resourceType: text("Only of this kind of resource.", "call", aResource),
      resourceId: text("Only of this resource.", "svc_call_0123456789abcdef0123456789abcdef"),
      action: text("Only with this action.", "call.status_changed", anAction),
      actorId: text("Only by this API key or user.", "0b5c2a4e-6d1f-8a3b-9c0d-1e2f3a4b5c6d"),
      createdAfterMs: Schema.optionalKey(Query.timestamp("Only lines after this moment.")),
      createdBeforeMs: Schema.optionalKey(Query.timestamp("Only lines before this moment.")),
      ...Pagination.parameters
    },
    { createdAfterMs: "created_after", createdBeforeMs: "created_before" }
  ),
  success: Pagination.envelope(AuditLine)
}).annotateMerge(
  about({
    summary: "List who changed what",
    description: "Newest first. Every change of a resource has a line, with its actor.",
    scope: "audit:read"
  })
)

export class AuditApi extends HttpApiGroup.make("audit")
  .add(list)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Audit", description: "Who changed what." })) {}
