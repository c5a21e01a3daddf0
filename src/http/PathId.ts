import { Schema } from "effect"
import * as Id from "../domain/Id.ts"

/** Ids in paths and bodies (decision C11). */

/** Begins with `svc_<type>_`: another prefix is a 400; what it names being unknown or foreign, a 404. */
export const prefixed = (type: Id.Prefix) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^svc_${type}_`), { message: `must be a svc_${type}_ id` }))

/** A record's UUID in a path; what is no UUID names nothing: 404. */
export const uuid = Id.Uuid.annotate({ "trunkline/code": "not_found" })
