import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { FailoverChanged } from "../../../tenancy/tenant/Tenant.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as Text from "../request/Text.ts"
import { Account, Quota } from "./AccountView.ts"
import { body, of } from "../../../domain/schema/RequestField.ts"

/** The account, guide/tenants.md#the-account. */

const { get, patch } = endpoints({ reads: "account:read", writes: "webhooks:write" })

export class AccountApi extends HttpApiGroup.make("account")
  .add(
    get("retrieve", "/v1/account", "Retrieve the account", {
      success: Account,
      description: "Answered for a suspended tenant too.",
      servesSuspended: true
    }),
    patch("update", "/v1/account", "Change the failover URL of webhooks", {
      payload: body("UpdateAccount", {
        webhookFailoverUrl: of(
          Schema.NullOr(Text.httpsUrl("", "https://example.com/failover")),
          "Gets the events that no subscription takes; null: none. HTTPS only; no user name, no private address.",
          "https://example.com/failover"
        )
      }),
      success: FailoverChanged,
      description: "Each URL gets a new secret, shown once; `null` ends the failover.",
      errors: ["invalid_target_url"]
    }),
    get("quota", "/v1/quota", "Retrieve caps and what is used of them", { success: Quota })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "Identity, balance and quota." })) {}
