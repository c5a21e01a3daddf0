import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import type { EgressRequest } from "../../../../src/ports/egress/Egress.ts"
import * as TargetPolicy from "../../../../src/ports/egress/TargetPolicy.ts"
import { egressOf, serve } from "./Egresses.ts"

const get = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
  url,
  method: "GET",
  headers: {},
  timeoutMs: 60_000,
  maxResponseBytes: 1_000,
  ...more
})

describe("The operator's rules for targets", () => {
  it.live("refuse a URL when it is given, when it is asked, where it redirects to, and by what it resolves to", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        if (request.url === "/away") response.writeHead(302, { location: server.at("/", "other.example") }).end()
        else response.end("ok")
      })
      const policy = TargetPolicy.make()
      const egress = yield* egressOf({ policy })
      const reason = (request: EgressRequest) =>
        Effect.map(Effect.flip(egress.request(request)), ({ reason }) => reason)
      expect(egress.refuse(server.at())).toBeNull()

      policy.set([{ value: "other.example", verdict: "deny" }])
      expect(egress.refuse(server.at("/", "other.example"))).toBe("points to a host that the operator does not allow")
      expect(yield* reason(get(server.at("/", "other.example")))).toBe("blocked")
      expect(yield* reason(get(server.at("/away"), { maxRedirects: 3 }))).toBe("blocked")
      expect((yield* egress.request(get(server.at()))).status).toBe(200)

      policy.set([{ value: "127.0.0.0/8", verdict: "deny" }])
      expect(egress.refuse(server.at())).toBeNull()
      expect(yield* reason(get(server.at()))).toBe("blocked")
      expect(yield* reason(get(server.at("/", "127.0.0.1")))).toBe("blocked")
      const pinned = yield* Effect.flip(egress.pin(server.at().replace("https:", "wss:"), 1_000))
      expect(pinned.reason).toBe("blocked")

      policy.set([{ value: "hook.example", verdict: "allow" }])
      expect((yield* egress.request(get(server.at()))).status).toBe(200)
      expect(yield* reason(get(server.at("/", "other.example")))).toBe("blocked")
    }).pipe(Effect.scoped)
  )

  it.live("hold for connections that were open before: none of them serves another request", () =>
    Effect.gen(function* () {
      const held = yield* Deferred.make<() => void>()
      const server = yield* serve((request, response) => {
        if (request.url === "/held")
          Deferred.doneUnsafe(
            held,
            Effect.succeed(() => void response.end("ok"))
          )
        else response.end("ok")
      })
      const policy = TargetPolicy.make()
      const egress = yield* egressOf({ policy })
      // One connection is idle and one is busy when the rule comes.
      const busy = yield* Effect.forkChild(egress.request(get(server.at("/held"))))
      const finish = yield* Deferred.await(held)
      expect((yield* egress.request(get(server.at()))).status).toBe(200)
      policy.set([{ value: "127.0.0.1/32", verdict: "deny" }])
      const refusals = [yield* Effect.flip(egress.request(get(server.at())))]
      finish()
      expect((yield* Fiber.join(busy)).status).toBe(200)
      refusals.push(yield* Effect.flip(egress.request(get(server.at()))))
      expect(refusals.map(({ reason }) => reason)).toEqual(["blocked", "blocked"])
    }).pipe(Effect.scoped)
  )
})
