import { Effect } from "effect"
import * as CallOperations from "./CallOperations.ts"
import * as DialingPermissionOperations from "./DialingPermissionOperations.ts"
import * as InboundOperations from "./InboundOperations.ts"
import * as JobOperations from "./JobOperations.ts"
import * as NumberOperations from "./NumberOperations.ts"
import * as RateOperations from "./RateOperations.ts"
import * as RouteOperations from "./RouteOperations.ts"
import * as TenantOperations from "./TenantOperations.ts"

/** Everything that the operator's door can be asked. */
export const make = Effect.map(
  Effect.all([
    RouteOperations.make,
    TenantOperations.make,
    NumberOperations.make,
    RateOperations.make,
    DialingPermissionOperations.make,
    InboundOperations.make,
    CallOperations.make,
    JobOperations.make
  ]),
  (families) => families.flat()
)
