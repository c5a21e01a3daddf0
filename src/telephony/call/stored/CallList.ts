import * as ListTable from "../../../runtime/store/list/ListTable.ts"
import { type CallState, durationSeconds, isTerminal } from "../machine/CallState.ts"
import * as Increments from "../../../domain/price/Increments.ts"
import * as Meter from "../machine/Meter.ts"
import * as CallUsage from "./CallUsage.ts"

const { bigint, int, of, text, time, uuid } = ListTable

/** The columns that the list of calls filters and shows; the whole call is in its entity. */
export const CallList = of<CallState>()("call", {
  id: text((call) => call.id),
  tenantId: uuid((call) => call.tenantId),
  direction: text((call) => call.direction),
  status: text((call) => call.status),
  fromNumber: text((call) => call.from),
  toNumber: text((call) => call.to),
  routeId: text((call) => call.routeId),
  initiatedAt: time((call) => call.initiatedAt),
  answeredAt: time((call) => call.answeredAt),
  endedAt: time((call) => call.endedAt),
  durationSeconds: int((call) => durationSeconds(call.answeredAt, call.endedAt)),
  endReason: text((call) => call.endReason),
  endInitiator: text((call) => call.endInitiator),
  customerReference: text((call) => call.customerReference),
  costCents: bigint((call) => call.costCents),
  ratingStatus: text((call) => call.ratingStatus),
  // The files of calls alone show the columns below. The rate is that of the call's own leg.
  microUsdPerMinute: bigint((call) => call.meters[0]?.microUsdPerMinute ?? null),
  increments: text((call) => (call.meters[0] === undefined ? null : Increments.named(call.meters[0]))),
  destination: text((call) => (isTerminal(call) ? CallUsage.countryOf(call.to) : null)),
  billedSeconds: int((call) => (isTerminal(call) ? Meter.billedSecs(call.meters, "leg") : null))
})

export type CallRow = ListTable.RowOf<typeof CallList>
