import { Clock, Effect } from "effect"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../../runtime/idempotency/Slot.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import type * as EmergencyAddressRepo from "./EmergencyAddressRepo.ts"
import { address, type AddressRow } from "./EmergencyAddressView.ts"

export type NewAddress = Omit<AddressRow, "id" | "createdAt">

/** The most addresses of a tenant. */
const most = 1_000

const notFound = ApiError.of("not_found", "no such emergency address")
const tooMany = ApiError.of("conflict", `this workspace has ${most} emergency addresses, as many as it may`)

/** Adds and deletes emergency addresses, guide/numbers.md#emergency-addresses, each with an audit line. */
export const make = Effect.fnUntraced(function* (repo: EmergencyAddressRepo.EmergencyAddressRepo) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy

  const write = Effect.fnUntraced(function* <E>(
    caller: Audit.Caller,
    of: { readonly id: Id.AddressId; readonly action: string; readonly at: number },
    slot: Slot | null,
    rendered: Rendered,
    change: Effect.Effect<unknown, E>
  ) {
    const line = Audit.line({
      ...Audit.of(caller),
      at: of.at,
      seed: entropy.hex(16),
      action: `emergency_address.${of.action}`,
      resourceId: of.id
    })
    yield* change.pipe(
      Effect.andThen(journal.commitWithin({ ...empty, audit: [line], receipt: receipt(slot, rendered, of.at) })),
      transaction
    )
    return rendered
  })

  return {
    /** 201; 409 `conflict` when the tenant has the most that are allowed. */
    create: Effect.fn("Numbers.addAddress")(function* (caller: Audit.Caller, fields: NewAddress, slot: Slot | null) {
      const at = yield* Clock.currentTimeMillis
      const row: AddressRow = { ...fields, id: Id.derive(entropy.hex(16), "addr"), createdAt: at }
      return yield* write(
        caller,
        { id: row.id, action: "created", at },
        slot,
        { status: 201, body: JSON.stringify(address(row)) },
        Effect.gen(function* () {
          if ((yield* repo.countForInsert(caller.tenantId, most)) >= most) return yield* tooMany
          yield* repo.insert(caller.tenantId, row)
        })
      )
    }),
    find: (tenantId: Id.TenantId, id: Id.AddressId) =>
      Effect.flatMap(repo.find(tenantId, id), (row) =>
        row === null ? Effect.fail(notFound) : Effect.succeed(address(row))
      ),
    list: repo.list,
    /** 204; 409 `conflict` while a number has it. */
    remove: Effect.fn("Numbers.removeAddress")(function* (caller: Audit.Caller, id: Id.AddressId, slot: Slot | null) {
      const at = yield* Clock.currentTimeMillis
      return yield* write(
        caller,
        { id, action: "deleted", at },
        slot,
        { status: 204, body: null },
        Effect.gen(function* () {
          const found = yield* repo.lock(caller.tenantId, id)
          if (found === null) return yield* notFound
          if (found.usedBy !== null)
            return yield* ApiError.of("conflict", `it is the emergency address of ${found.usedBy}`)
          yield* repo.remove(id)
        })
      )
    })
  } as const
})
