import * as EmailAddress from "../../../domain/EmailAddress.ts"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import { Api } from "../Api.ts"
import { Visitor } from "../Public.ts"
import { RateLimit } from "../request/RateLimit.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "tenants",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const limits = yield* RateLimit
    return handlers.handleAll({
      signup: Effect.fnUntraced(function* ({ payload }) {
        const visitor = yield* (yield* Visitor).admit
        return yield* visitor.once(`email:${EmailAddress.canonical(payload.email)}`, (slot) =>
          JsonResponse.rendered(tenants.signup(payload, visitor.ip, slot))
        )
      }),
      verify: Effect.fnUntraced(function* ({ payload }) {
        const { ip } = yield* (yield* Visitor).admit
        return yield* JsonResponse.rendered(tenants.verifyEmail(payload.token, ip))
      }),
      resend: Effect.fnUntraced(function* ({ payload }) {
        yield* (yield* Visitor).admit
        yield* limits.take("resend_by_email", EmailAddress.canonical(payload.email))
        return yield* JsonResponse.rendered(tenants.resendVerification(payload.email))
      })
    })
  })
)
