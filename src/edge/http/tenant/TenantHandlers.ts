import * as EmailAddress from "../../../domain/EmailAddress.ts"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import { Api } from "../Api.ts"
import { visit } from "../Handler.ts"
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
      verify: visit(({ payload }, ip) => tenants.verifyEmail(payload, ip)),
      resend: visit(({ payload: { email } }) =>
        Effect.andThen(limits.take("resend_by_email", EmailAddress.canonical(email)), tenants.resendVerification(email))
      )
    })
  })
)
