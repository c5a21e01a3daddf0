import { Schema } from "effect"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import * as Field from "../../../domain/schema/Field.ts"
import * as Id from "../../../domain/Id.ts"

/**
 * Ids in paths, bodies and queries. Each is checked as a whole, against its only spelling, before anything is looked up
 * or stored under it.
 */

const namesNothing = "names nothing here"

const matches = (type: Id.Prefix) => Schema.isPattern(Id.pattern(type), { message: `must be a svc_${type}_ id` })

/**
 * An id in a path or a body. A prefix other than `svc_<type>_` is a 400. A malformed id with the right prefix is a 404
 * with the code `unknown`, like an id that does not exist or is another tenant's.
 */
export const prefixed = <P extends Id.Prefix>(type: P, unknown: Code = "not_found") =>
  Id.schema(type)
    .check(
      Schema.makeFilter(
        (id: string) => (Id.hasPrefix(type, id) ? undefined : `must be a svc_${type}_ id`),
        // The next check publishes the whole form.
        { toJsonSchema: () => ({}) },
        true
      ),
      matches(type).annotate({ "trunkline/code": unknown, message: namesNothing })
    )
    .annotate({ examples: [Field.opaque(type)] })

/**
 * A participant in a path, by its member id or its call's id. Another prefix is a 400; a malformed id is the 404
 * `member_not_found`.
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

/** An id that a list is filtered by. A malformed id is a 400; an unknown one finds nothing. */
export const filter = <P extends Id.Prefix>(type: P) =>
  Id.schema(type)
    .check(matches(type))
    .annotate({ examples: [Field.opaque(type)] })

/** The UUID of a record in a path. A malformed UUID is a 404. */
const uuid = <Uuid extends string>(schema: Schema.Codec<Uuid, string>) =>
  schema
    .check(Schema.isPattern(Id.uuidPattern, { "trunkline/code": "not_found", message: namesNothing }))
    .annotate({ format: "uuid", examples: [schema.make(Field.exampleUuid)] })

export const delivery = uuid(Id.DeliveryId)
export const apiKey = uuid(Id.ApiKeyId)
export const user = uuid(Id.UserId)
export const invitation = uuid(Id.InvitationId)
