import { Effect, Layer } from "effect"
import {
  Egress,
  EgressError,
  type EgressReason,
  type EgressRequest,
  type EgressResponse
} from "../../../src/ports/egress/Egress.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"

export type Answer = Partial<EgressResponse> | EgressReason

/** An egress that answers from a table after `delayMs`, and records its requests. */
export const make = (answers: Readonly<Record<string, Answer>>, delayMs = 100) => {
  const requests: Array<EgressRequest> = []
  const layer = Layer.succeed(Egress, {
    ...NoEgress.service,
    request: (request) =>
      Effect.gen(function* () {
        requests.push(request)
        yield* Effect.sleep(delayMs)
        const answer = answers[request.url] ?? { status: 404 }
        if (typeof answer === "string") return yield* new EgressError({ reason: answer, detail: "" })
        return { status: 200, headers: {}, body: new Uint8Array(0), ...answer }
      }),
    refuse: () => null
  })
  return { layer, requests }
}
