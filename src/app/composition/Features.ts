import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts, DialingPermissions } from "../../money/account/Account.ts"
import { ApiKeys } from "../../tenancy/apikey/ApiKey.ts"
import { Calls } from "../../telephony/call/Call.ts"
import { Closings } from "../../tenancy/closing/Closing.ts"
import { Conferences } from "../../telephony/conference/Conference.ts"
import { Trunks } from "../../numbers/trunk/Trunk.ts"
import type { SubscriptionId } from "../../domain/Id.ts"
import { Funding } from "../../money/funding/Funding.ts"
import { Numbers } from "../../numbers/number/Number.ts"
import { Porting } from "../../numbers/porting/Porting.ts"
import { Recordings } from "../../telephony/recording/Recording.ts"
import { CommitClient } from "../../runtime/store/CommitClient.ts"
import { Team } from "../../tenancy/team/Team.ts"
import { Passwords, Tenants } from "../../tenancy/tenant/Tenant.ts"
import { Transcriptions } from "../../telephony/transcription/Transcription.ts"
import * as Dispatcher from "../../webhook/Dispatcher.ts"
import { Webhooks } from "../../webhook/Webhook.ts"
import type { Config } from "../boot/config/Config.ts"
import * as Metered from "./Metered.ts"
import * as Onboarded from "./Onboarded.ts"

type Options = Pick<Config, "baseUrl" | "maxCallSecs" | "recordingDays" | "signup"> & {
  readonly payment: Pick<Config["payment"], "topUp">
}

/** All features over their foundations and the ports by which they reach the world. */
export const layer = (options: Options) =>
  conferences.pipe(
    Layer.provideMerge(Calls.layer({ maxCallSecs: options.maxCallSecs })),
    Layer.provideMerge(Layer.merge(DialingPermissions.layer, webhooks)),
    Layer.provideMerge(accounts(options))
  )

/** The features that need neither calls nor webhooks. `numbers`: the source of numbers. */
export const accounts = (
  options: Omit<Options, "maxCallSecs">,
  numbers: Layer.Layer<Numbers, never, Layer.Services<typeof Numbers.layer>> = Numbers.layer
) =>
  Layer.mergeAll(Closings.layer, Tenants.layer(options), Team.layer(options)).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Onboarded.layer,
        Transcriptions.layer,
        Recordings.layer({ baseUrl: options.baseUrl, days: options.recordingDays })
      )
    ),
    Layer.provideMerge(Porting.layer),
    Layer.provideMerge(
      Layer.mergeAll(ApiKeys.layer, Passwords.layer, numbers, Metered.plans, Funding.layer(options.payment.topUp))
    ),
    Layer.provideMerge(Accounts.layer)
  )

const conferences = Layer.unwrap(
  Effect.map(Webhooks, (hooks) =>
    Conferences.layer({
      wantsSpeaking: (tenantId) =>
        hooks.wants(tenantId, ["conference.member_speaking_started", "conference.member_speaking_ended"])
    })
  )
)

const webhooks = Layer.unwrap(
  Effect.gen(function* () {
    const connections = yield* Trunks
    const accounts = yield* Accounts
    return Webhooks.layer({
      ownsConnection: (tenantId, routeId) => Effect.isSuccess(connections.find(tenantId, routeId)),
      subscriptionLimit: (tenantId) =>
        Effect.map(accounts.overview(tenantId), ({ quota }) => quota.webhookSubscriptionLimit)
    })
  })
)

/** Delivers events to webhooks. It begins when the features are available. */
export const deliveries = (options: Pick<Dispatcher.Options, "version" | "disableAfterDays">) =>
  Layer.unwrap(Effect.map(Webhooks, (hooks) => Dispatcher.layer({ ...options, disable: disableEndpoint(hooks) }))).pipe(
    Layer.provide(commitConnections)
  )

/** The subscription may have been deleted meanwhile. */
const disableEndpoint = (webhooks: Webhooks["Service"]) => (id: SubscriptionId, because: string) =>
  Effect.ignore(webhooks.disable(id, { actor: { type: "system", id: null, name: null }, ip: null }, because))

/** Deliveries follow commits on the journal's own connections. */
export const commitConnections = Layer.effect(
  SqlClient.SqlClient,
  Effect.flatMap(SqlClient.SqlClient, (shared) => Effect.map(CommitClient, (own) => own ?? shared))
)
