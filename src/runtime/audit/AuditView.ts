import { Schema } from "effect"
import { AuditId } from "../../domain/Id.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"

const actorTypes = ["api_key", "user", "system", "operator"] as const

const Actor = Wire.struct({
  type: Field.oneOf("What kind of actor changed it.", actorTypes),
  id: Field.textOrNull("The API key or the user; null for the service and the operator.", null),
  name: Field.textOrNull("The name of it at that time.", "production")
}).pipe(Schema.annotateEncoded({ description: "Who changed it." }))

const value = (description: string) =>
  Schema.NullOr(
    Schema.Union([
      Schema.String,
      Schema.Number,
      Schema.Boolean,
      Schema.Array(Schema.Unknown),
      Schema.Record(Schema.String, Schema.Unknown)
    ])
  ).annotate({ description, examples: ["active"] })

const Change = Wire.struct({
  field: Field.text("The field.", "status"),
  from: value("What it was; null where there was nothing."),
  to: value("What it is; null where nothing is.")
}).pipe(Schema.annotateEncoded({ description: "One changed field." }))

/** A line of the audit log, guide/tenants.md#audit. */
export const AuditLine = Wire.struct({
  id: Field.uuid(AuditId, "The line."),
  occurredAt: Field.time("When it was changed."),
  actor: Actor,
  action: Field.text("What was done: the resource, and what happened to it.", "api_key.created"),
  resourceType: Field.text("What kind of resource was changed.", "api_key"),
  resourceId: Field.text("That resource.", Field.exampleUuid),
  changes: Schema.Array(Change).annotate({ description: "Each changed field; none holds a secret." }),
  ip: Field.textOrNull("Where the request came from; null where it was none.", "192.0.2.1")
}).pipe(Schema.annotateEncoded({ identifier: "AuditLine", description: "Who changed what." }))
export type AuditLineView = typeof AuditLine.Encoded

export const view = Wire.encoder(AuditLine)
