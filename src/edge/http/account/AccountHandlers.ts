import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../../../money/account/Account.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import { Api } from "../Api.ts"
import { read, write } from "../Handler.ts"
import { type Account, limitsOf, quotaOf } from "./AccountView.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const billing = yield* Billing
    const accounts = yield* Accounts
    return handlers.handleAll({
      retrieve: read(
        Effect.fnUntraced(function* (tenantId) {
          return {
            tenant: yield* tenants.find(tenantId),
            balance: yield* billing.balance(tenantId),
            quota: limitsOf(yield* accounts.overview(tenantId))
          } satisfies typeof Account.Encoded
        })
      ),
      update: write((caller, { payload }, slot) => tenants.setFailoverUrl(caller, payload.webhookFailoverUrl, slot)),
      quota: read((tenantId) => Effect.zipWith(accounts.overview(tenantId), Clock.currentTimeMillis, quotaOf))
    })
  })
)
