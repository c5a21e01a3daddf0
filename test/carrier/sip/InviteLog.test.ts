import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as Ids from "../../support/Ids.ts"
import * as Rig from "./Rig.ts"

/** A rig with the lines of its log. */
const logged = Effect.gen(function* () {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
  const rig = yield* Rig.make("logged").pipe(Effect.provide(Logger.layer([logger])))
  return { rig, lines: () => Effect.map(Rig.pass(1), () => lines.splice(0).filter((line) => line.includes("INVITE"))) }
})

const refusals = (status: number) =>
  Effect.map(PrometheusMetrics.format(), (text) =>
    Number(new RegExp(`^sip_invites_refused_total{status="${status}"} ([0-9]+)`, "m").exec(text)?.[1] ?? 0)
  )

describe("an INVITE of a trunk that becomes no call (guide/sip.md#refusals)", () => {
  it.effect("leaves a line with the ids of whom it called, and is counted", () =>
    Effect.gen(function* () {
      const { lines, rig } = yield* logged
      const before = yield* refusals(503)
      rig.admission = {
        admitted: false,
        cause: "unavailable",
        of: { tenantId: Ids.tenant("t1"), routeId: Rig.trunk.routeId, why: "rate_limited" }
      }
      yield* rig.deliver(Rig.invite())
      expect(Rig.names(rig.sent())).toEqual(["100", "503"])
      const [line = "", ...more] = yield* lines()
      expect(more).toEqual([])
      expect(line).toMatch(
        /level=INFO .*message="SIP INVITE refused" source=192\.0\.2\.2 status=503 why=rate_limited from=\+4930123456 to=\+12025550150 call_id=in-1 leg=svc_leg_\w+ tenant=t1 route=svc_route_1 messages=1$/
      )
      expect((yield* refusals(503)) - before).toBe(1)
    })
  )

  it.effect("tells why also where no tenant is known, and a flood of them has a line a second", () =>
    Effect.gen(function* () {
      const { lines, rig } = yield* logged
      rig.admission = { admitted: false, cause: "not_found" }
      const from = "<sip:x%22%20status=200@h>;tag=b"
      for (let each = 0; each < 20; each++)
        yield* rig.deliver(Rig.invite({ from, branch: `z9hG4bK${each}`, callId: `in"${each}` }))
      const [first = "", ...more] = yield* lines()
      expect(more).toEqual([])
      expect(first).toMatch(
        / status=404 why=not_found from=none to=\+12025550150 call_id=none leg=svc_leg_\w+ tenant=none /
      )
      yield* Rig.pass(1_000)
      yield* rig.deliver(Rig.invite({ uri: "sip:nobody@h", to: "<sip:nobody@h>", branch: "z9hG4bKno", callId: "no" }))
      yield* rig.drain
      yield* rig.deliver(Rig.invite({ branch: "z9hG4bKlate", callId: "late" }))
      const [unnumbered = "", draining = ""] = yield* lines()
      expect(unnumbered).toMatch(/ status=404 why="no number" .* leg=none .* messages=20$/)
      expect(draining).toMatch(/ status=503 why=draining /)
    })
  )
})

describe("an INVITE of a trunk that comes to no transaction", () => {
  it.effect("leaves a line, too: faulty, merged, or beyond the room; a re-INVITE leaves none", () =>
    Effect.gen(function* () {
      const { lines, rig } = yield* logged
      yield* rig.deliver(Rig.invite({ headers: [["Require", "foo"]], callId: "faulty" }))
      yield* rig.deliver(Rig.invite({ headers: [["Require", "foo"]], callId: "within", to: "<sip:a@b>;tag=x" }))
      yield* rig.deliver(Rig.invite({ callId: "merged" }))
      yield* rig.deliver(Rig.invite({ callId: "merged", branch: "z9hG4bKother" }))
      const said = (yield* lines()).map((line) => / status=.*call_id=\w+/.exec(line)?.[0])
      expect(said).toEqual([
        ' status=420 why="Bad Extension" from=+4930123456 to=+12025550150 call_id=faulty',
        ' status=482 why="Loop Detected" from=+4930123456 to=+12025550150 call_id=merged'
      ])
    })
  )
})

describe("the answers of trunks to our calls", () => {
  it.effect("are counted by their class, once for each call", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("counted answers")
      const dial = (name: string) => {
        const ids = { commandId: Ids.command(name), callId: Ids.call(name), legId: Ids.leg(name) }
        return Effect.map(rig.command({ ...Rig.dial, ...ids }), () => Rig.requestOf(rig.sent(), "INVITE"))
      }
      for (const status of [486, 503, 603, 404]) {
        const invite = yield* dial(`c${status}`)
        yield* rig.deliver(Rig.reply(invite, status))
      }
      const answered = yield* dial("answered")
      for (let again = 0; again < 2; again++) yield* rig.deliver(Rig.reply(answered, 200, { body: Rig.sdpBody() }))
      yield* dial("silent")
      yield* Rig.pass(40_000)
      expect(Object.fromEntries(rig.states.answers().get(Rig.trunk.routeId) ?? [])).toEqual({
        "4xx": 2,
        "5xx": 1,
        "6xx": 1,
        "2xx": 1,
        none: 1
      })
    })
  )
})
