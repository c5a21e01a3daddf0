import { Schema } from "effect"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import * as Field from "../../../domain/schema/Field.ts"
import * as Id from "../../../domain/Id.ts"

/**
 * Ids in paths, bodies and queries. Each is checked whole, against its one spelling, before anything is looked up or
 * kept under it.
 */

const namesNothing = "names nothing here"

const matches = (type: Id.Prefix) => Schema.isPattern(Id.pattern(type), { message: `must be a svc_${type}_ id` })

/**
 * An id in a path or a body. Another prefix than `svc_<type>_` is a 400. A text with the prefix that is no id names
 * nothing: `unknown`, a 404 like that for an id that is unknown or another tenant's.
 */
export const prefixed = <P extends Id.Prefix>(type: P, unknown: Code = "not_found") =>
  Id.schema(type)
    .check(
      Schema.makeFilter(
        (id: string) => (Id.hasPrefix(type, id) ? undefined : `must be a svc_${type}_ id`),
        // What is published is the whole form, by the next check.
        { toJsonSchema: () => ({}) },
        true
      ),
      matches(type).annotate({ "trunkline/code": unknown, message: namesNothing })
    )
    .annotate({ examples: [Field.opaque(type)] })

/**
 * A participant in a path: by its member id or by its call's. Another prefix is a 400; a text that is no id names nobody:
 * 404 `member_not_found`.
 */
export const participant = Schema.String.check(
  Schema.makeFilter(
    (id: string) =>
      Id.hasPrefix("member", id) || Id.hasPrefix("call", id) ? undefined : "must be a svc_member_ or svc_call_ id",
    { toJsonSchema: () => ({}) },
    true
  ),
  Schema.isPattern(/^svc_(member|call)_[0-9a-f]{32}$/u, {
    "trunkline/code": "member_not_found",
    message: namesNothing
  })
).annotate({ examples: [Field.opaque("member")] })

/** An id that a list is filtered by: in any other form a 400. One that is unknown finds nothing. */
export const filter = <P extends Id.Prefix>(type: P) =>
  Id.schema(type)
    .check(matches(type))
    .annotate({ examples: [Field.opaque(type)] })

export const delivery = Id.DeliveryId.check(
  Schema.isPattern(Id.uuidPattern, { "trunkline/code": "not_found", message: namesNothing })
).annotate({ format: "uuid", examples: [Id.DeliveryId.make(Field.exampleUuid)] })

const isUuid = Schema.isPattern(Id.uuidPattern, { "trunkline/code": "not_found", message: namesNothing })

/** A record's UUID in a path. A text that is no UUID names nothing: 404. */
export const apiKey = Id.ApiKeyId.check(isUuid).annotate({
  format: "uuid",
  examples: [Id.ApiKeyId.make(Field.exampleUuid)]
})
export const user = Id.UserId.check(isUuid).annotate({ format: "uuid", examples: [Id.UserId.make(Field.exampleUuid)] })
export const invitation = Id.InvitationId.check(isUuid).annotate({
  format: "uuid",
  examples: [Id.InvitationId.make(Field.exampleUuid)]
})
