import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Funding } from "../../../money/funding/Funding.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as Pagination from "../answer/Pagination.ts"
import { Visitor } from "../Public.ts"

const payments = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function* (handlers) {
    const funding = yield* Funding
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/billing/payment-methods", query, (window) =>
          funding.methods(tenantId, window)
        )
      }),
      setup: Effect.fnUntraced(function* () {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(funding.setup(yield* CurrentKey, slot))
      }),
      save: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(funding.save(yield* CurrentKey, payload, slot))
      }),
      update: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(funding.makeDefault(yield* CurrentKey, params.id, slot))
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(funding.remove(yield* CurrentKey, params.id, slot))
      }),
      topup: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(funding.topUp(yield* CurrentKey, payload, slot))
      }),
      retrieve_auto_recharge: Effect.fnUntraced(function* () {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* funding.autoRecharge(tenantId))
      }),
      set_auto_recharge: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        const { autoRechargeAmountCents, autoRechargeThresholdCents, enabled, paymentMethodId } = payload
        const request = {
          enabled,
          thresholdCents: autoRechargeThresholdCents,
          amountCents: autoRechargeAmountCents,
          paymentMethodId
        }
        return yield* JsonResponse.rendered(funding.setAutoRecharge(yield* CurrentKey, request, slot))
      })
    })
  })
)

/** Passes the processor's events on as raw bytes, because its signature covers those. */
const processorEvents = HttpApiBuilder.group(
  Api,
  "processor_events",
  Effect.fnUntraced(function* (handlers) {
    const funding = yield* Funding
    return handlers.handleAll({
      stripe: Effect.fnUntraced(function* () {
        yield* (yield* Visitor).admit
        const request = yield* HttpServerRequest.HttpServerRequest
        const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
        return yield* JsonResponse.rendered(funding.receive(body, request.headers["stripe-signature"] ?? ""))
      })
    })
  })
)

export const layer = Layer.merge(payments, processorEvents)
