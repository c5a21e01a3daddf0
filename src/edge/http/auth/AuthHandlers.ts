import * as EmailAddress from "../../../domain/EmailAddress.ts"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Team } from "../../../tenancy/team/Team.ts"
import { Api } from "../Api.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import { visit } from "../Handler.ts"
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
      reset: visit(({ payload: { email } }) =>
        Effect.andThen(limits.take("reset_by_email", EmailAddress.canonical(email)), team.requestReset(email))
      ),
      confirm: visit(({ payload }, ip) => team.confirmReset(payload, ip)),
      accept: visit(({ payload }, ip) => team.accept(payload, ip))
    })
  })
)
