import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Calls } from "../../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../../src/carrier/Carrier.ts"
import { Conferences } from "../../../../src/telephony/conference/Conference.ts"
import type { Conference } from "../../../../src/telephony/conference/ConferenceView.ts"
import type * as Id from "../../../../src/domain/Id.ts"
import * as CallSample from "../../../telephony/call/CallSample.ts"
import { FakeSwitch } from "../../../telephony/conference/FakeSwitch.ts"
import * as World from "../OperatorWorld.ts"

const world = FakeSwitch.layer.pipe(Layer.provideMerge(World.over(Carrier.layer)))
const eve = { type: "operator", name: "Eve" } as const

const until = Effect.fnUntraced(function* <A, R>(read: Effect.Effect<A, never, R>, reached: (read: A) => boolean) {
  let now = yield* read
  for (let waited = 0; !reached(now) && waited < 1_500; waited++) {
    yield* Effect.sleep("10 millis")
    now = yield* read
  }
  expect(reached(now), JSON.stringify(now)).toBe(true)
  return now
})

/** A tenant with conferences whose host has joined. */
const tenant = Effect.fnUntraced(function* (slug: string) {
  const caller = yield* World.signup(slug)
  const { tenantId } = caller
  yield* (yield* Accounts).setQuota(tenantId, { allowCallerIdForwarding: true }, eve)
  const [calls, conferences, fake] = [yield* Calls, yield* Conferences, yield* FakeSwitch]
  const hosted = Effect.fnUntraced(function* (name: string) {
    const asked = CallSample.request("+12025550177", { callerIdForwarding: true })
    const { body } = yield* calls.place(caller, asked, null)
    const call = JSON.parse(body ?? "") as {
      readonly id: Id.CallId
      readonly legs: readonly [{ readonly id: Id.LegId }]
    }
    fake.answers(call.id, call.legs[0].id)
    yield* until(Effect.orDie(calls.find(tenantId, call.id)), ({ status }) => status === "answered")
    const created = yield* conferences.create(
      caller,
      {
        name,
        hostCallId: call.id,
        beepEnabled: "never",
        startOnCreate: true,
        endOnExit: true,
        maxParticipants: 10,
        durationMinutes: 60
      },
      null
    )
    const { id } = JSON.parse(created.body ?? "") as { readonly id: Id.ConferenceId }
    yield* until(Effect.orDie(conferences.find(tenantId, id)), ({ status }) => status === "in_progress")
    return { id, callId: call.id }
  })
  return { tenantId, hosted, callOf: (id: Id.CallId) => Effect.orDie(calls.find(tenantId, id)) }
})

/** The JSON that a command prints. */
const told = Effect.fn(function* (...args: ReadonlyArray<string>) {
  return World.jsonOf(yield* World.operator("conference", ...args, "--json"))
})
const listed = Effect.fn(function* (...args: ReadonlyArray<string>) {
  const { results } = (yield* told("list", ...args)) as { readonly results: ReadonlyArray<Conference> }
  return results.map(({ name }) => name)
})
/** The exit code of a command and its error. */
const refused = Effect.fn(function* (...args: ReadonlyArray<string>) {
  const { code, stderr } = yield* World.operator("conference", ...args)
  return [code, stderr]
})

layer(world, { timeout: "60 seconds", excludeTestServices: true })("The operator's commands of conferences", (it) => {
  it.effect("list those of one tenant, newest first, by status and a part of the name", () =>
    Effect.gen(function* () {
      const own = yield* tenant("listing")
      const other = yield* tenant("unlisted")
      yield* own.hosted("Monday")
      const { id } = yield* own.hosted("Tuesday 100%")
      yield* other.hosted("Monday")
      expect(yield* listed("--tenant", "listing")).toEqual(["Tuesday 100%", "Monday"])
      expect(yield* listed("--tenant", own.tenantId, "--limit", "1")).toEqual(["Tuesday 100%"])
      expect(yield* listed("--tenant", "listing", "--name", "MON")).toEqual(["Monday"])
      expect(yield* listed("--tenant", "listing", "--name", "0%")).toEqual(["Tuesday 100%"])
      yield* told("end", id)
      expect(yield* listed("--tenant", "listing", "--status", "completed")).toEqual(["Tuesday 100%"])
      expect(yield* listed("--tenant", "listing", "--status", "in_progress")).toEqual(["Monday"])
      const table = yield* World.operator("conference", "list", "--tenant", "listing")
      expect(table.stdout).toMatch(/id +name +status[^]*Monday +in_progress/)
      expect((yield* refused("list"))[0]).toBe(2)
      expect(yield* refused("list", "--tenant", "nobody")).toEqual([1, expect.stringContaining("no such tenant")])
      expect((yield* refused("list", "--tenant", "listing", "--status", "over"))[0]).not.toBe(0)
    })
  )

  it.effect("show one with its participants, whosever it is, and one that is over out of its row", () =>
    Effect.gen(function* () {
      const own = yield* tenant("showing")
      const { callId, id } = yield* own.hosted("Shown")
      const live = yield* told("show", id)
      expect(live).toMatchObject({ id, tenant_id: own.tenantId, name: "Shown", status: "in_progress" })
      expect(live["participants"]).toMatchObject([{ call_id: callId, role: "host", left_at: null }])
      yield* told("end", id)
      const over = yield* until(told("show", id), ({ participants }) => !JSON.stringify(participants).includes("null"))
      expect(over).toMatchObject({ id, status: "completed", host_call_id: callId })
      expect(yield* refused("show", `svc_conf_${"0".repeat(32)}`)).toEqual([1, expect.stringContaining("no such")])
      expect((yield* refused("show", "Shown"))[0]).not.toBe(0)
    })
  )

  it.effect("end one for good, hang up who is in it as the system does, and leave their name in the audit log", () =>
    Effect.gen(function* () {
      const own = yield* tenant("ending")
      const { callId, id } = yield* own.hosted("Ended")
      expect(yield* told("end", id)).toMatchObject({ id, status: "completed" })
      yield* until(
        own.callOf(callId),
        ({ end_initiator, end_reason, status }) =>
          [status, end_reason, end_initiator].join() === "ended,conference_ended,system"
      )
      expect(yield* refused("end", id)).toEqual([1, expect.stringContaining("already ended")])
      expect(yield* refused("end", `svc_conf_${"0".repeat(32)}`)).toEqual([1, expect.stringContaining("no such")])
      const sql = yield* SqlClient.SqlClient
      const lines = yield* sql<{ readonly actor: string; readonly changes: string }>`
        SELECT actor_type AS actor, changes::text AS changes FROM audit
        WHERE tenant_id = ${own.tenantId} AND action = 'conference.status_changed' ORDER BY ordinal`
      expect(lines.at(-1)?.actor).toBe("operator")
      expect(lines.at(-1)?.changes).toContain("completed")
    })
  )
})
