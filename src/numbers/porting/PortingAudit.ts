import * as Audit from "../../runtime/audit/Audit.ts"
import type * as Id from "../../domain/Id.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import type { Stored } from "./PortingRepo.ts"

export const line = ({
  by,
  orderId,
  ...rest
}: Omit<Parameters<typeof Audit.line>[0], keyof Audit.By | "resourceId"> & {
  readonly by: Audit.By
  readonly orderId: Id.PortingOrderId
}) => Audit.line({ ...rest, ...by, resourceId: orderId })

type Value = string | null | ReadonlyArray<string>

/** The visible fields of an order, by their names on the wire. */
const shown: Readonly<Record<string, (of: Omit<Stored, "state">) => Value>> = {
  status: ({ row }) => row.status,
  phone_numbers: ({ row }) => row.numbers.map(({ phoneNumber }) => phoneNumber),
  foc_at: ({ row }) => Timestamp.formatOrNull(row.focAt),
  losing_carrier: ({ row }) => row.losingCarrier,
  requested_foc_at: ({ row }) => Timestamp.formatOrNull(row.requestedFocAt),
  route_id: ({ row }) => row.routeId,
  customer_reference: ({ row }) => row.customerReference,
  "end_user.entity_name": ({ endUser }) => endUser.entityName,
  "end_user.authorized_person_name": ({ endUser }) => endUser.authorizedPersonName,
  "end_user.billing_phone_number": ({ endUser }) => endUser.billingPhoneNumber,
  "end_user.address": ({ endUser: { address } }) =>
    address === null
      ? null
      : [
          address.streetAddress,
          address.extendedAddress,
          address.locality,
          address.administrativeArea,
          address.postalCode,
          address.countryCode
        ].filter((part) => part !== null)
}

/** The secret fields. The log shows that they changed, and not how. */
const sealed: Readonly<Record<string, (of: Omit<Stored, "state">) => string | null>> = {
  "end_user.account_number": ({ endUser }) => endUser.accountNumber,
  "end_user.pin_passcode": ({ endUser }) => endUser.pinPasscode
}

/** The changes of an order, field by field. */
export const changesOf = (
  before: Omit<Stored, "state">,
  after: Omit<Stored, "state">
): NonNullable<Parameters<typeof Audit.line>[0]["changes"]> => [
  ...Object.entries(shown).flatMap(([field, read]) => {
    const [from, to] = [read(before), read(after)]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field, from, to }]
  }),
  ...Object.entries(sealed).flatMap(([field, read]) =>
    read(before) === read(after) ? [] : [{ field, from: null, to: null }]
  )
]
