import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import * as AccountHandlers from "./account/AccountHandlers.ts"
import { Api } from "./Api.ts"
import * as ApiKeyHandlers from "./apikey/ApiKeyHandlers.ts"
import * as AuditHandlers from "./audit/AuditHandlers.ts"
import * as AuthHandlers from "./auth/AuthHandlers.ts"
import * as LinkPages from "./auth/LinkPages.ts"
import { Authenticated } from "./request/Authenticated.ts"
import * as BillingHandlers from "./billing/BillingHandlers.ts"
import * as InvoiceFile from "./billing/InvoiceFile.ts"
import * as CallHandlers from "./call/CallHandlers.ts"
import * as ConferenceHandlers from "./conference/ConferenceHandlers.ts"
import * as ConnectionHandlers from "./trunk/ConnectionHandlers.ts"
import * as ErrorPages from "./answer/ErrorPages.ts"
import * as Guide from "./guide/Guide.ts"
import * as NumberHandlers from "./number/NumberHandlers.ts"
import * as PortingHandlers from "./porting/PortingHandlers.ts"
import * as PaymentHandlers from "./payment/PaymentHandlers.ts"
import { Public } from "./Public.ts"
import * as Reference from "./document/Reference.ts"
import * as RouteTable from "./RouteTable.ts"
import * as RecordingFile from "./recording/RecordingFile.ts"
import * as RecordingHandlers from "./recording/RecordingHandlers.ts"
import * as SpeechHandlers from "./speech/SpeechHandlers.ts"
import * as TwilioHangup from "./twilio/TwilioHangup.ts"
import * as TeamHandlers from "./team/TeamHandlers.ts"
import * as TenantHandlers from "./tenant/TenantHandlers.ts"
import * as UsageHandlers from "./usage/UsageHandlers.ts"
import * as WebhookHandlers from "./webhook/WebhookHandlers.ts"

const Handlers = Layer.mergeAll(
  TenantHandlers.layer,
  AuthHandlers.layer,
  TeamHandlers.layer,
  AccountHandlers.layer,
  ApiKeyHandlers.layer,
  BillingHandlers.layer,
  PaymentHandlers.layer,
  NumberHandlers.layer,
  PortingHandlers.layer,
  CallHandlers.layer,
  ConferenceHandlers.layer,
  RecordingHandlers.layer,
  SpeechHandlers.layer,
  ConnectionHandlers.layer,
  WebhookHandlers.layer,
  AuditHandlers.layer,
  UsageHandlers.layer
)

/** Every declared endpoint, as method and path. */
const declared = (): ReadonlyArray<RouteTable.Route> => {
  const routes: Array<RouteTable.Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => void routes.push({ method: endpoint.method, path: endpoint.path })
  })
  return routes
}

const documentation: ReadonlyArray<RouteTable.Route> = [
  ...Reference.routes,
  ...Guide.routes,
  ...LinkPages.routes,
  ...TwilioHangup.routes
]

/**
 * The whole surface: endpoints, document, interactive page (its scripts are inlined, so it needs no network), the
 * guide, and the error pages around them. Both slash forms of every path reach the same endpoint.
 */
export const layer = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers)),
  Reference.layer,
  Guide.layer,
  LinkPages.layer,
  TwilioHangup.layer,
  RecordingFile.layer,
  InvoiceFile.layer,
  ErrorPages.layer(RouteTable.make([...declared(), ...documentation, RecordingFile.route, InvoiceFile.route]))
).pipe(Layer.provide([Authenticated.layer, Public.layer]))

/** Configures the router: a double slash is not a single one, names are case-sensitive, ids have any length. */
export const routerConfig = Layer.succeed(HttpRouter.RouterConfig, {
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 2048
})
