import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Webhooks } from "../../../webhook/Webhook.ts"
import { Api } from "../Api.ts"
import { list, read, write } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "webhooks", (handlers) =>
  Effect.map(Webhooks, (webhooks) =>
    handlers.handleAll({
      create: write((caller, { payload }, slot) => webhooks.create(caller, payload, slot)),
      list: list(webhooks.list),
      retrieve: read((tenantId, { params }) => webhooks.find(tenantId, params.id)),
      update: write((caller, { params, payload }, slot) => webhooks.update(caller, params.id, payload, slot)),
      remove: write((caller, { params }, slot) => webhooks.remove(caller, params.id, slot)),
      secret: read((tenantId, { params }) => webhooks.secretOf(tenantId, params.id)),
      redeliver: write((caller, { params }, slot) => webhooks.redeliver(caller, params.id, slot)),
      redeliverRange: write((caller, { params, payload }, slot) => {
        const { createdAfterMs = null, createdBeforeMs = null, status } = payload
        return webhooks.redeliverRange(caller, params.id, { createdAfterMs, createdBeforeMs, status }, slot)
      }),
      test: write((caller, { params }, slot) => webhooks.test(caller, params.id, slot)),
      deliveries: list((tenantId, window, filters) => webhooks.deliveries(tenantId, filters, window))
    })
  )
)
