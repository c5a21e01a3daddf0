import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Csv from "../../../domain/schema/Csv.ts"
import { Period } from "../../../money/usage/Usage.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { CallFile, Calls } from "../../../telephony/call/Call.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as OperatorAudit from "../command/OperatorAudit.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

const columns = ["tenant_id", "tenant", ...CallFile.columns] as const

/** guide/operation.md#call-records. */
export const commands = [
  Command.make("cdr export", {
    summary: "writes a record of each call that ended in a time, of all tenants or of one, into a new CSV file",
    input: {
      from: Flag.time("calls that ended from then on"),
      to: Flag.time("and before then; at most 92 days later"),
      tenant: TenantReference.optional
    },
    saves: "file",
    run: Effect.fnUntraced(function* ({ from, tenant, to }) {
      if (to <= from) return yield* ApiError.of("invalid_request", "to must be after from", "to")
      if (to - from > Period.longestMs)
        return yield* ApiError.of("invalid_request", "the period is longer than 92 days", "to")
      const tenantId = yield* TenantReference.idOrNull(tenant)
      const records = yield* (yield* Calls).ended({ from, to }, tenantId)
      yield* (yield* Journal).commitAsked(
        yield* OperatorAudit.line({
          tenantId,
          action: "calls.exported",
          resourceType: "call",
          resourceId: tenantId ?? "all",
          changes: [
            { field: "from", from: null, to: new Date(from).toISOString() },
            { field: "to", from: null, to: new Date(to).toISOString() }
          ]
        })
      )
      const text = Csv.file(columns, records).pipe(
        Stream.tapError((error) => Effect.logError('the file of "cdr export" was cut short', error))
      )
      return HttpServerResponse.stream(Stream.encodeText(text), { contentType: "text/csv; charset=utf-8" })
    })
  })
]
