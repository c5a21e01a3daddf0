import { Effect, Layer } from "effect"
import { Egress } from "../../../src/ports/egress/Egress.ts"
import * as EgressTarget from "../../../src/ports/egress/EgressTarget.ts"

const nothing = Effect.die(new Error("nothing leaves here"))

/** An egress through which nothing leaves; it refuses the URLs that the real one refuses. */
export const service: Egress["Service"] = {
  request: () => nothing,
  stream: () => nothing,
  pin: () => nothing,
  refuse: (url, schemes) => EgressTarget.refuse(url, EgressTarget.publicOnly, schemes)
}

export const layer = Layer.succeed(Egress, service)
