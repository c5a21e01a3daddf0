import { Effect, Layer } from "effect"
import { EgressError } from "../Egress.ts"
import { type OperatorClient, OperatorEgress } from "../OperatorEgress.ts"
import type { OperatorTarget } from "../OperatorTarget.ts"
import * as EgressTarget from "../EgressTarget.ts"
import * as CheckedLookup from "./CheckedLookup.ts"
import * as HttpsClient from "./HttpsClient.ts"

const open = Effect.fnUntraced(function* (service: OperatorTarget, resolve: CheckedLookup.Resolve) {
  const { permits } = EgressTarget.operators
  const client = yield* HttpsClient.make({ permits, resolve, authorities: service.authorities })
  const targetOf = (path: string) => HttpsClient.accepted(service.at(path))
  const httpTargetOf = (path: string) =>
    Effect.filterOrFail(
      targetOf(path),
      ({ scheme }) => scheme === "https:" || scheme === "http:",
      () => new EgressError({ reason: "invalid_url", detail: "the URL is not one of HTTP" })
    )
  const opened: OperatorClient = {
    request: (request) =>
      Effect.flatMap(httpTargetOf(request.path), (target) => client.request(target, request, request.timeoutMs)),
    stream: (request) => Effect.flatMap(httpTargetOf(request.path), (target) => client.stream(target, request)),
    pin: (path, timeoutMs) => Effect.flatMap(targetOf(path), (target) => client.pin(target, timeoutMs))
  }
  return opened
})

/** Names are resolved by the machine, including its hosts file, because an operator's services are named there. */
export const layer = (resolve: CheckedLookup.Resolve = CheckedLookup.system): Layer.Layer<OperatorEgress> =>
  Layer.succeed(OperatorEgress, { open: (target) => open(target, resolve) })
