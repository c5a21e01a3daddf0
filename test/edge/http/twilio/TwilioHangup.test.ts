import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

const world = new TestServer.World()

const hangUp = (
  authorization: string | null,
  call: string,
  form: string,
  others: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const { port } = yield* Listening
    const response = yield* Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/2010-04-01/Accounts/AC1/Calls/${call}`, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          ...(authorization === null ? {} : { authorization }),
          ...others
        },
        body: form
      })
    )
    return [response.status, yield* Effect.promise(() => response.json())] as const
  })
const basic = (key: string) => `Basic ${Buffer.from(`AC1:${key}`).toString("base64")}`

layer(TestServer.layer(world))("Twilio's way to hang up, guide/streams.md#with-pipecat", (it) => {
  it.effect("hangs the call up with an API key as the password", () =>
    Effect.gen(function* () {
      expect(yield* hangUp(basic("svc_live_a"), `${TestServer.callOfA}.json`, "Status=completed")).toEqual([
        200,
        { sid: TestServer.callOfA, account_sid: "AC1", status: "completed" }
      ])
      expect(world.reached.at(-1)?.args.slice(1, 3)).toEqual([TestServer.callOfA, { verb: "hangup", body: {} }])
    })
  )

  it.effect("refuses others, in Twilio's words", () =>
    Effect.gen(function* () {
      const statusOf = (...args: Parameters<typeof hangUp>) => Effect.map(hangUp(...args), ([status]) => status)
      const call = `${TestServer.callOfA}.json`
      expect(yield* statusOf(null, call, "Status=completed")).toBe(401)
      expect(yield* statusOf("Basic !", call, "Status=completed")).toBe(401)
      expect(yield* statusOf(basic("nobody"), call, "Status=completed")).toBe(401)
      expect(yield* statusOf(basic("svc_live_reader"), call, "Status=completed")).toBe(403)
      expect(yield* statusOf(basic("svc_live_a"), call, "Status=busy")).toBe(400)
      expect(yield* statusOf(basic("svc_live_a"), call, `Status=completed&x=${"x".repeat(5000)}`)).toBe(400)
      expect(yield* statusOf(basic("svc_live_a"), call, "Status=completed", { "content-encoding": "gzip" })).toBe(415)
      // Pipecat takes this code for a call that has ended.
      expect(yield* hangUp(basic("svc_live_b"), call, "Status=completed")).toMatchObject([404, { code: 20_404 }])
      expect(yield* hangUp(basic("svc_live_a"), "CA1.json", "Status=completed")).toMatchObject([404, { code: 20_404 }])
    })
  )
})
