import { Effect, Result, Schema } from "effect"
import { KeptE164 } from "../../../domain/E164.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as TimeSlices from "../../../domain/time/TimeSlices.ts"
import type { AddressId, TenantId } from "../../../domain/Id.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Numbers, type OfTenant } from "../../../numbers/number/Number.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Files from "../command/Files.ts"
import * as NumberCsvTable from "./NumberCsvTable.ts"

const view = ({ number, tenantId }: OfTenant) => ({ tenant_id: tenantId, ...number })

const addressOf = Effect.fnUntraced(function* (tenantId: TenantId, id: AddressId | null) {
  return id === null ? {} : { emergency_address: yield* (yield* Numbers).findAddress(tenantId, id) }
})

const phoneNumber = Flag.argument("number", KeptE164, "the number, in E.164 with its +")

const change = (verb: string, of: (numbers: Numbers["Service"]) => Numbers["Service"]["suspend"], summary: string) =>
  Command.make(`number ${verb}`, {
    summary,
    input: { phoneNumber, reason: Flag.reason },
    run: Effect.fnUntraced(function* ({ phoneNumber, reason = null }) {
      return view(yield* of(yield* Numbers)(phoneNumber, reason))
    })
  })

/** guide/operation.md#keys-and-numbers. */
export const commands = [
  Command.make("number show", {
    summary: "shows whose number it is, and its state",
    input: { phoneNumber },
    run: Effect.fnUntraced(function* ({ phoneNumber }) {
      const numbers = yield* Numbers
      const owner = yield* numbers.byDialled(phoneNumber)
      if (owner === null) return yield* ApiError.of("number_not_found", "nobody has this number")
      const { numberId, tenantId } = owner
      const number = yield* numbers.find(tenantId, numberId)
      return { ...view({ number, tenantId }), ...(yield* addressOf(tenantId, number.emergency_address_id)) }
    })
  }),
  Command.make("number release", {
    summary:
      "takes a number from its tenant, who may order it again for 14 days; with --no-hold it may not. Live calls go on",
    input: {
      phoneNumber,
      reason: Flag.reason,
      isHeld: Flag.of(Wire.absentIs(true, Schema.Boolean), "its tenant may not order it again", {
        flag: "no-hold",
        sets: false
      })
    },
    run: Effect.fnUntraced(function* ({ isHeld, phoneNumber, reason = null }) {
      return view(yield* (yield* Numbers).take(phoneNumber, reason, isHeld))
    })
  }),
  change(
    "ported-out",
    ({ portOut }) => portOut,
    "says that another carrier has the number now; it leaves the inventory, too"
  ),
  change("suspend", ({ suspend }) => suspend, "lets a number neither take nor place calls; live calls go on"),
  change("resume", ({ resume }) => resume, "ends what `number suspend` began"),
  Command.make("number price", {
    summary: "sets what a tenant's number costs from its next month on",
    input: {
      phoneNumber,
      monthlyCostCents: Flag.argument("monthly-cents", NumberCsvTable.Price, "the price of a month, in cents")
    },
    run: Effect.fnUntraced(function* ({ monthlyCostCents, phoneNumber }) {
      return view(yield* (yield* Numbers).setMonthlyCost(phoneNumber, monthlyCostCents))
    })
  }),
  Command.make("number emergency", {
    summary: "says whether the number's emergency address is registered with the carrier, and shows the address",
    input: {
      phoneNumber,
      isEnabled: Flag.argument("on|off", Schema.Boolean, "whether it is registered", { words: Flag.onOff })
    },
    run: Effect.fnUntraced(function* ({ isEnabled, phoneNumber }) {
      const changed = yield* (yield* Numbers).setEmergencyEnabled(phoneNumber, isEnabled)
      return { ...view(changed), ...(yield* addressOf(changed.tenantId, changed.number.emergency_address_id)) }
    })
  }),
  Command.make("numbers withdraw", {
    summary: "takes a number out of the inventory; whoever owns it keeps it",
    input: {
      phoneNumbers: Flag.argument(
        "number",
        Schema.Array(KeptE164).check(Schema.isMinLength(1), Schema.isMaxLength(1_000)),
        "the number, or several with commas between them"
      )
    },
    run: Effect.fnUntraced(function* ({ phoneNumbers }) {
      return { withdrawn: yield* (yield* Numbers).withdrawInventory(phoneNumbers) }
    })
  }),
  Command.make("numbers import", {
    summary:
      "adds numbers to the inventory from CSV, all or none: phone_number,country_code,number_type,national_destination_code," +
      "region,locality,rate_center,features,upfront_cost_cents,monthly_cost_cents",
    input: { csv: Flag.argument("csv", Schema.String, "a file with these columns", { read: Files.text }) },
    run: Effect.fnUntraced(function* ({ csv }) {
      const entries = yield* TimeSlices.run(() => NumberCsvTable.read(csv))
      if (Result.isFailure(entries)) return yield* ApiError.of("invalid_request", entries.failure)
      const numbers = entries.success.length
      yield* (yield* Numbers).importInventory(entries.success)
      yield* Effect.logInfo("numbers imported by the operator", { numbers })
      return { numbers }
    })
  })
]
