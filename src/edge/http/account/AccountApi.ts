import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { FailoverChanged } from "../../../tenancy/tenant/Tenant.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Text from "../request/Text.ts"
import { Account, Quota } from "./AccountView.ts"

/** The account, guide/tenants.md#the-account. */

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/account", { success: Account }).annotateMerge(
  about({
    summary: "Retrieve the account",
    description: "Answered for a suspended tenant too.",
    scope: "account:read",
    servesSuspended: true
  })
)

const update = HttpApiEndpoint.patch("update", "/v1/account", {
  payload: Wire.struct({
    webhookFailoverUrl: Schema.NullOr(Text.httpsUrl("", "https://example.com/failover")).annotate({
      description:
        "Gets the events that no subscription takes; null: none. HTTPS only; no user name, no private address.",
      examples: ["https://example.com/failover"]
    })
  }).pipe(Schema.annotateEncoded({ identifier: "UpdateAccount" })),
  success: FailoverChanged
}).annotateMerge(
  about({
    summary: "Change the failover URL of webhooks",
    description: "Each URL gets a new secret, shown once; `null` ends the failover.",
    scope: "webhooks:write",
    errors: ["invalid_target_url"]
  })
)

const quota = HttpApiEndpoint.get("quota", "/v1/quota", { success: Quota }).annotateMerge(
  about({ summary: "Retrieve caps and what is used of them", scope: "account:read" })
)

export class AccountApi extends HttpApiGroup.make("account")
  .add(retrieve, update, quota)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "Identity, balance and quota." })) {}
