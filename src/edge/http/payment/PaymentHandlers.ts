import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Funding } from "../../../money/funding/Funding.ts"
import { Api } from "../Api.ts"
import { list, read, visit, write } from "../Handler.ts"

const payments = HttpApiBuilder.group(Api, "payments", (handlers) =>
  Effect.map(Funding, (funding) =>
    handlers.handleAll({
      list: list(funding.methods),
      setup: write((caller, _, slot) => funding.setup(caller, slot)),
      save: write((caller, { payload }, slot) => funding.save(caller, payload, slot)),
      update: write((caller, { params }, slot) => funding.makeDefault(caller, params.id, slot)),
      remove: write((caller, { params }, slot) => funding.remove(caller, params.id, slot)),
      topup: write((caller, { payload }, slot) => funding.topUp(caller, payload, slot)),
      retrieve_auto_recharge: read((tenantId) => funding.autoRecharge(tenantId)),
      set_auto_recharge: write((caller, { payload }, slot) => {
        const { autoRechargeAmountCents: amountCents, autoRechargeThresholdCents: thresholdCents } = payload
        const { enabled, paymentMethodId } = payload
        return funding.setAutoRecharge(caller, { enabled, thresholdCents, amountCents, paymentMethodId }, slot)
      })
    })
  )
)

/** Passes the processor's events on as raw bytes, because its signature covers those. */
const processorEvents = HttpApiBuilder.group(Api, "processor_events", (handlers) =>
  Effect.map(Funding, (funding) =>
    handlers.handleAll({
      stripe: visit(
        Effect.fnUntraced(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
          return yield* funding.receive(body, request.headers["stripe-signature"] ?? "")
        })
      )
    })
  )
)

export const layer = Layer.merge(payments, processorEvents)
