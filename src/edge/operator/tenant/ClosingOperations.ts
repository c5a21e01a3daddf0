import { Clock, Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Recordings } from "../../../telephony/recording/Recording.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"
import * as TenantExport from "./TenantExport.ts"

/** `tenant export`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const recordings = yield* Recordings
  const journal = yield* Journal
  const entropy = yield* Entropy
  const context = yield* Effect.context<SqlClient.SqlClient>()
  let isUnderWay = false

  return [
    Operation.make(
      "tenant/export",
      Schema.Struct({ tenant: Operation.TenantRef }),
      Effect.fnUntraced(function* ({ tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        if (isUnderWay) return yield* ApiError.of("conflict", "an export is under way")
        const at = yield* Clock.currentTimeMillis
        const line = Audit.line({
          tenantId: id,
          at,
          seed: entropy.hex(16),
          actor: Audit.operator,
          action: "tenant.exported",
          resourceType: "tenant",
          resourceId: id
        })
        yield* journal.commitAsked({ ...empty, audit: [line] })
        const taken = Effect.acquireRelease(
          Effect.sync(() => {
            isUnderWay = true
          }),
          () =>
            Effect.sync(() => {
              isUnderWay = false
            })
        )
        return HttpServerResponse.stream(
          Stream.unwrap(Effect.as(taken, TenantExport.lines(id, at, recordings.link))).pipe(
            Stream.tapError((error) => Effect.logError("an export of a tenant was cut short", error)),
            Stream.encodeText,
            Stream.provideContext(context)
          ),
          { contentType: "application/x-ndjson" }
        )
      })
    )
  ]
})
