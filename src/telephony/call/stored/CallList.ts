import * as ListTable from "../../../runtime/store/list/ListTable.ts"
import { type CallState, durationSeconds } from "../machine/CallState.ts"

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
  ratingStatus: text((call) => call.ratingStatus)
})

export type CallRow = ListTable.RowOf<typeof CallList>
