import { Effect } from "effect"
import * as Audit from "../../runtime/audit/Audit.ts"
import { Trunks } from "../trunk/Trunk.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import type { Slot } from "../../runtime/idempotency/Slot.ts"
import type * as EmergencyAddressRepo from "./emergency/EmergencyAddressRepo.ts"
import * as NumberChange from "./NumberChange.ts"
import * as NumberLife from "./NumberLife.ts"
import * as NumberView from "./NumberView.ts"

/** Absent fields stay unchanged. */
export interface NumberPatch {
  readonly routeId?: Id.RouteId | null
  readonly name?: string | null
  readonly customerReference?: string | null
  readonly tags?: ReadonlyArray<string>
  readonly messagingEnabled?: boolean
  readonly callerIdName?: string | null
  readonly inboundRecording?: Partial<NumberView.InboundRecording>
  readonly emergencyAddressId?: Id.AddressId | null
}

const noMessaging = ApiError.of(
  "messaging_profile_not_provisioned",
  "this service sends no messages",
  "messaging_enabled"
)
const noAddress = ApiError.of(
  "not_found",
  "emergency_address_id names no emergency address of this workspace",
  "emergency_address_id"
)

/**
 * Configures a number, guide/numbers.md#configuring. The checks, in order: 404 number, 409 not active, 409 messaging,
 * 404 route, 404 address.
 *
 * A new address of a number is not registered with a carrier yet, so `emergency_enabled` is false until the operator
 * changes it.
 */
export const make = Effect.fnUntraced(function* (
  changes: NumberChange.NumberChange,
  addresses: EmergencyAddressRepo.EmergencyAddressRepo
) {
  const connections = yield* Trunks

  const apply = Effect.fnUntraced(function* (tenantId: Id.TenantId, row: NumberView.NumberRow, patch: NumberPatch) {
    const fixed = NumberLife.fixed(row)
    if (fixed !== null) return yield* fixed
    const { emergencyAddressId, inboundRecording = {}, messagingEnabled, ...fields } = patch
    if (messagingEnabled === true) return yield* noMessaging
    if (fields.routeId !== undefined && fields.routeId !== null) yield* connections.resolve(tenantId, fields.routeId)
    if (emergencyAddressId !== undefined && emergencyAddressId !== null)
      if (!(yield* addresses.hold(tenantId, emergencyAddressId))) return yield* noAddress
    const isMoved = emergencyAddressId !== undefined && emergencyAddressId !== row.emergencyAddressId
    const after: NumberView.NumberRow = {
      ...row,
      ...fields,
      inboundRecording: { ...row.inboundRecording, ...inboundRecording },
      ...(isMoved ? { emergencyAddressId, emergencyEnabled: false } : {})
    }
    const changed = NumberChange.changesOf(row, after)
    return changed.length === 0 ? null : { row: after, action: "number.updated", changes: changed }
  })

  return Effect.fn("Numbers.update")(function* (
    caller: Audit.Caller,
    id: Id.NumberId,
    patch: NumberPatch,
    slot: Slot | null
  ) {
    const { rendered } = yield* changes.changing(
      { tenantId: caller.tenantId, id },
      Audit.byCaller(caller),
      (row) => apply(caller.tenantId, row, patch),
      { slot, render: (row) => ({ status: 200, body: JSON.stringify(NumberView.number(row)) }) }
    )
    return rendered ?? { status: 200, body: null }
  })
})
