import { Schema } from "effect"
import * as Id from "../domain/Id.ts"

/** Ids in paths and bodies (decision C11). */

/** `svc_<type>_` and 32 hex digits: another form is a 400; the right form of what is unknown or foreign, a 404. */
export const prefixed = (type: Id.Prefix) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^svc_${type}_[0-9a-f]{32}$`), {
      message: `must be svc_${type}_ followed by 32 lower-case hexadecimal digits`
    })
  )

/** A record's UUID in a path; what is no UUID names nothing: 404. */
export const uuid = Id.Uuid.annotate({ "trunkline/code": "not_found" })
