import * as EmailAddress from "../../../domain/EmailAddress.ts"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Team } from "../../../tenancy/team/Team.ts"
import { Api } from "../Api.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import { Visitor } from "../Public.ts"
import { RateLimit } from "../request/RateLimit.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const team = yield* Team
    const limits = yield* RateLimit
    return handlers.handleAll({
      login: Effect.fnUntraced(function* ({ payload: { email, password } }) {
        const { ip } = yield* (yield* Visitor).admitFor(EmailAddress.canonical(email))
        return yield* JsonResponse.rendered(team.login(email, password, ip))
      }),
      reset: Effect.fnUntraced(function* ({ payload: { email } }) {
        yield* (yield* Visitor).admit
        yield* limits.take("reset_by_email", EmailAddress.canonical(email))
        return yield* JsonResponse.rendered(team.requestReset(email))
      }),
      confirm: Effect.fnUntraced(function* ({ payload: { newPassword, token } }) {
        const { ip } = yield* (yield* Visitor).admit
        return yield* JsonResponse.rendered(team.confirmReset(token, newPassword, ip))
      }),
      accept: Effect.fnUntraced(function* ({ payload }) {
        const { ip } = yield* (yield* Visitor).admit
        return yield* JsonResponse.rendered(team.accept(payload, ip))
      })
    })
  })
)
