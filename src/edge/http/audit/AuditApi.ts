import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { AuditLine } from "../../../runtime/audit/Audit.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as Query from "../request/Query.ts"
import { optional } from "../../../domain/schema/RequestField.ts"

/** The audit log, guide/tenants.md#audit. */

const { list } = endpoints({ reads: "audit:read", writes: null })

const text = (description: string, example: string, ...form: ReadonlyArray<Check>) =>
  optional(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200), ...form), description, example)
type Check = ReturnType<typeof Schema.isPattern>

/** A misspelled filter is refused, because an empty list would suggest that nothing has happened. */
const aResource = Schema.isPattern(/^[a-z]+(_[a-z]+)*$/u, { message: "must be a kind of resource, as call" })
const anAction = Schema.isPattern(/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/u, {
  message: "must be a resource and what happened to it, as call.status_changed"
})

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    list("list", "/v1/audit", "List who changed what", AuditLine, {
      filters: {
        resourceType: text("Only of this kind of resource.", "call", aResource),
        resourceId: text("Only of this resource.", "svc_call_0123456789abcdef0123456789abcdef"),
        action: text("Only with this action.", "call.status_changed", anAction),
        actorId: text("Only by this API key or user.", "0b5c2a4e-6d1f-8a3b-9c0d-1e2f3a4b5c6d"),
        createdAfterMs: Schema.optionalKey(Query.timestamp("Only lines after this moment.")),
        createdBeforeMs: Schema.optionalKey(Query.timestamp("Only lines before this moment."))
      },
      names: { createdAfterMs: "created_after", createdBeforeMs: "created_before" },
      description: "Newest first. Every change of a resource has a line, with its actor."
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Audit", description: "Who changed what." })) {}
