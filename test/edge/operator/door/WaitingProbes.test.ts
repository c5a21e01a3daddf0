import { expect, it } from "@effect/vitest"
import { createServer, get } from "node:http"
import { once } from "node:events"
import { Effect, References } from "effect"
import * as WaitingProbes from "../../../../src/edge/operator/door/WaitingProbes.ts"
import * as FreePorts from "../../../support/network/FreePorts.ts"

const ask = (port: number, path: string) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, body: await response.json() }
  })

const misdirected = (port: number) =>
  Effect.callback<number>((resume) => {
    get({ port, host: "127.0.0.1", path: "/readyz", headers: { host: "evil.example" } }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
  })

it.live("a process that waits for its turn says that it lives, and why it gets no traffic; then its port is free", () =>
  Effect.gen(function* () {
    const { operator: port } = yield* Effect.promise(() => FreePorts.find())
    const reasons = ["waiting"]
    yield* Effect.gen(function* () {
      expect(yield* ask(port, "/healthz")).toEqual({ status: 200, body: { status: "ok" } })
      expect(yield* ask(port, "/readyz")).toEqual({ status: 503, body: { ready: false, reasons } })
      expect((yield* ask(port, "/metrics")).status).toBe(503)
      expect(yield* misdirected(port)).toBe(421)
    }).pipe(WaitingProbes.during({ port, hosts: [], reasons: () => reasons }))
    const next = createServer().listen(port, "127.0.0.1")
    yield* Effect.promise(() => once(next, "listening"))
    // When an owner on the same machine has the port, there are no probes, and the process waits all the same.
    const done = yield* Effect.succeed("done").pipe(
      WaitingProbes.during({ port, hosts: [], reasons: () => reasons }),
      Effect.provideService(References.MinimumLogLevel, "None")
    )
    expect(done).toBe("done")
    next.close()
  })
)
