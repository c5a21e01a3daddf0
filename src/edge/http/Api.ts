import { HttpApi, OpenApi } from "effect/http-api"
import { AccountApi } from "./account/AccountApi.ts"
import { ApiKeyApi } from "./apikey/ApiKeyApi.ts"
import { AuditApi } from "./audit/AuditApi.ts"
import { BillingApi } from "./billing/BillingApi.ts"
import { AuthApi } from "./auth/AuthApi.ts"
import { CallApi } from "./call/CallApi.ts"
import { ConferenceApi } from "./conference/ConferenceApi.ts"
import { ConnectionApi } from "./trunk/ConnectionApi.ts"
import { NumberApi } from "./number/NumberApi.ts"
import { PortingApi } from "./porting/PortingApi.ts"
import { PaymentApi, ProcessorApi } from "./payment/PaymentApi.ts"
import { RecordingApi } from "./recording/RecordingApi.ts"
import { SpeechApi } from "./speech/SpeechApi.ts"
import { TeamApi } from "./team/TeamApi.ts"
import { TenantApi } from "./tenant/TenantApi.ts"
import { UsageApi } from "./usage/UsageApi.ts"
import { WebhookApi } from "./webhook/WebhookApi.ts"

/**
 * Declares all endpoint groups. The routes, the checks and the published document are derived from this declaration.
 *
 * Requests are closed: an unknown field of a body or a query is a 400, which names every fault.
 */
export class Api extends HttpApi.make("trunkline")
  .add(
    TenantApi,
    AuthApi,
    TeamApi,
    AccountApi,
    ApiKeyApi,
    BillingApi,
    PaymentApi,
    ProcessorApi,
    NumberApi,
    PortingApi,
    CallApi,
    ConferenceApi,
    RecordingApi,
    SpeechApi,
    ConnectionApi,
    WebhookApi,
    AuditApi,
    UsageApi
  )
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Trunkline",
      version: "1",
      description:
        "Multi-tenant voice telephony: calls, conferences, recordings, numbers, webhooks. The [guide](/api/docs/guide/) tells the rules that hold across endpoints.",
      license: { name: "MIT" },
      servers: [{ url: "/" }]
    })
  ) {}
