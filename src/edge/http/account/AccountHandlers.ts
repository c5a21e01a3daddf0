import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../../../money/account/Account.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import { type Account, limitsOf, quotaOf } from "./AccountView.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const billing = yield* Billing
    const accounts = yield* Accounts
    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* () {
        const { tenantId } = yield* CurrentKey
        const account: typeof Account.Encoded = {
          tenant: yield* tenants.find(tenantId),
          balance: yield* billing.balance(tenantId),
          quota: limitsOf(yield* accounts.overview(tenantId))
        }
        return JsonResponse.of(account)
      }),
      update: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(tenants.setFailoverUrl(yield* CurrentKey, payload.webhookFailoverUrl, slot))
      }),
      quota: Effect.fnUntraced(function* () {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(quotaOf(yield* accounts.overview(tenantId), yield* Clock.currentTimeMillis))
      })
    })
  })
)
