import * as CallSetup from "../../../src/telephony/call/machine/CallSetup.ts"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { decodeAction } from "../../../src/telephony/call/verb/CallVerbs.ts"
import { Carrier, CarrierSink } from "../../../src/carrier/Carrier.ts"
import type { CallId, LegId, TenantId } from "../../../src/domain/Id.ts"
import * as Monotonic from "../../../src/domain/time/Monotonic.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"
import * as ModelCarrier from "../../support/fake/ModelCarrier.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** An engine over the database of the test, with its own memory. */
const engine = (label: string) =>
  Calls.layer({ maxCallSecs: 3600 }).pipe(
    Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
    Layer.provideMerge(Features.startedAgain(label)),
    Layer.orDie
  )

let starts = 0

/** A carrier that outlives engines, and the connection between them. */
const world = Effect.gen(function* () {
  const line = yield* ModelCarrier.makeLine
  const model = yield* ModelCarrier.make(line.sink)

  /** Starts an engine; `kill` leaves only what a dead process leaves. */
  const start = Effect.fnUntraced(function* (options: { readonly withCarrier: boolean } = { withCarrier: true }) {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(engine(`start ${++starts}`), scope)
    const carrier = Context.get(services, Carrier)
    const calls = Context.get(services, Calls)
    const connect = Effect.gen(function* () {
      const own = yield* Scope.fork(scope)
      line.connect(Context.get(services, CarrierSink))
      yield* Scope.provide(carrier.register("simulator", model.adapter), own)
      return Effect.andThen(
        Effect.sync(() => line.connect(null)),
        Scope.close(own, Exit.void)
      )
    })
    const disconnect = options.withCarrier ? yield* connect : Effect.void
    yield* calls.recover
    const kill = Effect.andThen(
      Effect.sync(() => line.connect(null)),
      Scope.close(scope, Exit.void)
    )
    return { calls, services, connect, disconnect, kill }
  })
  return { model, start }
})

type Engine = Effect.Success<ReturnType<Effect.Success<typeof world>["start"]>>

const place = Effect.fnUntraced(function* ({ calls, services }: Engine) {
  const { caller } = yield* Effect.provide(Features.newTenant(), services)
  const operator = { type: "operator", name: "test" } as const
  yield* Context.get(services, Accounts).setQuota(caller.tenantId, { allowCallerIdForwarding: true }, operator)
  const rendered = yield* calls.place(
    caller,
    {
      from: "+12025550150",
      to: "+12025550100",
      routeId: null,
      customerReference: null,
      timeoutSecs: 60,
      timeLimitSecs: null,
      callerIdForwarding: true,
      plan: CallSetup.nothing
    },
    null
  )
  const call = JSON.parse(rendered.body ?? "") as { readonly id: CallId; readonly legs: ReadonlyArray<{ id: LegId }> }
  return { caller, callId: call.id, legId: call.legs[0]?.id ?? Ids.leg("") }
})

const until = Effect.fnUntraced(function* (
  { calls }: Engine,
  tenantId: TenantId,
  callId: CallId,
  reached: (call: Effect.Success<ReturnType<Calls["Service"]["find"]>>) => boolean
) {
  let call = yield* calls.find(tenantId, callId)
  for (let waited = 0; !reached(call) && waited < 2_000; waited++) {
    yield* Effect.sleep("10 millis")
    call = yield* calls.find(tenantId, callId)
  }
  return call
})

const inputs = Effect.fnUntraced(function* (callId: CallId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly type: string }>`
    SELECT input ->> 'type' AS type FROM journal WHERE entity_id = ${callId} ORDER BY seq`
  return rows.map(({ type }) => type)
})

/** The commands that the carrier carried out for a call, because the database also holds those of other tests. */
const applied = (model: Effect.Success<typeof world>["model"], callId: CallId) =>
  model.applied.filter((command) => command.callId === callId).map(({ type }) => type)

/** A call's time continues across a restart by the database's answer, which takes a while. */
const nearer = (at: number, one: number, other: number) => (Math.abs(at - one) < Math.abs(at - other) ? one : other)

const answered = { type: "answered", resume: null } as const
const bye = { type: "ended", cause: "hangup", sipStatus: null, by: "far" } as const
/** A call that its callee has answered. */
const answeredCall = Effect.fnUntraced(function* (on: Engine, model: Effect.Success<typeof world>["model"]) {
  const placed = yield* place(on)
  yield* model.happens(placed.legId, answered)
  yield* until(on, placed.caller.tenantId, placed.callId, ({ status }) => status === "answered")
  return placed
})

const quiet = Layer.provideMerge(TestDatabase.layer, Layer.succeed(References.MinimumLogLevel, "None"))

describe("A call whose carrier outlives the engine", () => {
  layer(quiet, { excludeTestServices: true })((it) => {
    it.effect("goes on in the next engine, without a commit", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const first = yield* start()
        const { callId, caller } = yield* answeredCall(first, model)
        const before = yield* inputs(callId)
        yield* first.kill
        const second = yield* start()
        expect(yield* inputs(callId)).toStrictEqual(before)
        expect((yield* second.calls.find(caller.tenantId, callId)).status).toBe("answered")
        yield* second.calls.act(caller, callId, decodeAction("hangup", {}), null)
        expect(applied(model, callId)).toStrictEqual(["dial", "hangup"])
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("gathers on in the next engine, and its digits stand nowhere in the clear but in its events", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { model, start } = yield* world
        const first = yield* start()
        const { callId, caller, legId } = yield* answeredCall(first, model)
        yield* first.calls.act(caller, callId, decodeAction("gather", { maximum_digits: 4 }), null)
        const press = Effect.fnUntraced(function* (digit: string, last: number) {
          yield* model.happens(legId, { type: "media", event: { type: "dtmf", digit, at: yield* Monotonic.now } })
          const count = sql<{ readonly n: number }>`
            SELECT count(*)::int AS n FROM event WHERE entity_id = ${callId} AND type = 'call.dtmf'`
          yield* Effect.repeat(count, { until: ([row]) => row?.n === last })
        })
        yield* press("5", 1)
        yield* press("7", 2)
        yield* first.kill
        const written = sql<{ readonly text: string }>`
          SELECT input::text AS text FROM journal WHERE entity_id = ${callId}
          UNION ALL SELECT state::text FROM entity WHERE id = ${callId}`
        const digits = /"digits?": "[0-9]+"/
        expect((yield* written).map(({ text }) => digits.exec(text))).not.toContainEqual(expect.anything())
        expect((yield* written).filter(({ text }) => text.includes("sealed")).length).toBe(3)

        const second = yield* start()
        yield* press("9", 3)
        yield* press("9", 4)
        yield* model.happens(legId, bye)
        yield* until(second, caller.tenantId, callId, ({ status }) => status === "ended")
        expect((yield* written).map(({ text }) => digits.exec(text))).not.toContainEqual(expect.anything())
        expect(
          yield* sql`SELECT body::jsonb -> 'data' ->> 'digits' AS digits FROM event
            WHERE entity_id = ${callId} AND type = 'call.gather_complete'`
        ).toStrictEqual([{ digits: "5799" }])
        // The call has one key, which is written once.
        expect((yield* sql`SELECT id FROM call_key WHERE id = ${callId}`).length).toBe(1)
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("ends cleanly when the key of its secrets is lost, and tells nobody digits that were not pressed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { model, start } = yield* world
        const first = yield* start()
        const { callId, caller, legId } = yield* answeredCall(first, model)
        yield* first.calls.act(caller, callId, decodeAction("gather", { maximum_digits: 4 }), null)
        yield* model.happens(legId, { type: "media", event: { type: "dtmf", digit: "5", at: yield* Monotonic.now } })
        yield* Effect.repeat(sql`SELECT FROM call_key WHERE id = ${callId}`, { until: (rows) => rows.length === 1 })
        yield* first.kill
        yield* sql`DELETE FROM call_key WHERE id = ${callId}`
        const second = yield* start()
        const call = yield* until(second, caller.tenantId, callId, ({ status }) => status === "ended")
        expect([call.status, call.end_reason]).toStrictEqual(["ended", "carrier_error"])
        // The gather has cut off the playing sound.
        expect(applied(model, callId)).toStrictEqual(["dial", "media", "hangup"])
        expect(
          yield* sql`SELECT body::jsonb -> 'data' ->> 'digits' AS digits FROM event
            WHERE entity_id = ${callId} AND type = 'call.gather_complete'`
        ).toStrictEqual([{ digits: "•" }])
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("hears of a BYE that came in between, and is billed to its moment", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const first = yield* start()
        const { callId, caller, legId } = yield* answeredCall(first, model)
        yield* first.kill
        yield* Effect.sleep("50 millis")
        const endedAt = yield* model.happens(legId, bye)
        yield* Effect.sleep("300 millis")
        const restartedAt = Date.now()
        const second = yield* start()
        const call = yield* until(second, caller.tenantId, callId, ({ status }) => status === "ended")
        expect([call.end_reason, call.end_initiator]).toStrictEqual(["normal_clearing", "callee"])
        expect(nearer(Date.parse(call.ended_at ?? ""), endedAt, restartedAt)).toBe(endedAt)
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("is taken down and billed when its state cannot be read any more", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const sql = yield* SqlClient.SqlClient
        const first = yield* start()
        const { callId, caller, legId } = yield* answeredCall(first, model)
        // The last sign of life, up to which a started minute is billed.
        yield* Effect.sleep("20 millis")
        yield* first.calls.act(caller, callId, decodeAction("send_dtmf", { digits: "1" }), null)
        yield* first.kill
        yield* sql`UPDATE entity SET state = state - 'adapter' - 'meters' - 'legs' WHERE id = ${callId}`
        const second = yield* start()
        const call = yield* second.calls.find(caller.tenantId, callId)
        expect([call.status, call.legs[0]?.id, call.cost_cents]).toStrictEqual(["ended", legId, 1])
        expect(applied(model, callId)).toStrictEqual(["dial", "media", "hangup"])
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("is not dialled twice when its dial was under way", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const first = yield* start()
        const { callId, caller, legId } = yield* place(first)
        yield* first.kill
        const second = yield* start()
        expect(yield* inputs(callId)).toStrictEqual(["place", "recovered"])
        yield* model.happens(legId, answered)
        yield* until(second, caller.tenantId, callId, ({ status }) => status === "answered")
        expect(applied(model, callId)).toStrictEqual(["dial"])
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("is dialled once more when its dial was lost on the way", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const first = yield* start()
        model.setDeaf(true)
        const { callId, caller, legId } = yield* place(first)
        yield* first.kill
        expect(applied(model, callId)).toStrictEqual([])
        model.setDeaf(false)
        const second = yield* start()
        yield* model.happens(legId, answered)
        const call = yield* until(second, caller.tenantId, callId, ({ status }) => status === "answered")
        expect(call.status).toBe("answered")
        expect(applied(model, callId)).toStrictEqual(["dial"])
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("waits while the carrier cannot be asked, and goes on when it can", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const first = yield* start()
        const { callId, caller, legId } = yield* answeredCall(first, model)
        yield* first.kill
        const second = yield* start({ withCarrier: false })
        expect((yield* second.calls.find(caller.tenantId, callId)).status).toBe("answered")
        yield* second.calls.act(caller, callId, decodeAction("send_dtmf", { digits: "1" }), null)
        yield* Effect.sleep("200 millis")
        const connectedAt = Date.now()
        yield* second.connect
        const endedAt = yield* Effect.andThen(Effect.sleep("100 millis"), model.happens(legId, bye))
        const call = yield* until(second, caller.tenantId, callId, ({ status }) => status === "ended")
        expect(nearer(Date.parse(call.ended_at ?? ""), endedAt, connectedAt)).toBe(endedAt)
        expect(applied(model, callId)).toStrictEqual(["dial", "media"])
        yield* second.kill
      }).pipe(Effect.scoped)
    )

    it.effect("is taken down when its call was given up while the carrier was away, and no other is", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const only = yield* start()
        const { caller, legId } = yield* answeredCall(only, model)
        yield* only.disconnect
        const left = Ids.leg("svc_leg_left")
        const dial = {
          commandId: Ids.command("d"),
          callId: Ids.call("svc_call_gone"),
          legId: left,
          type: "dial"
        } as const
        const of = { tenantId: caller.tenantId, routeId: Ids.route("r"), from: "+12025550150", to: "+12025550100" }
        // The command of an owner that no longer exists.
        yield* model.adapter.interpret({ authority: { partition: 9, epoch: 1 }, command: { ...dial, ...of } })
        yield* only.connect
        const released = () =>
          model.applied.flatMap((command) =>
            command.type === "hangup" && [left, legId].includes(command.legId) ? [command.legId] : []
          )
        for (let waited = 0; released().length === 0 && waited < 2_000; waited++) yield* Effect.sleep("10 millis")
        expect(released()).toStrictEqual([left])
        yield* only.kill
      }).pipe(Effect.scoped)
    )

    it.effect("hears of what happened while the line to the carrier was cut, the engine being there all the time", () =>
      Effect.gen(function* () {
        const { model, start } = yield* world
        const only = yield* start()
        const { callId, caller, legId } = yield* answeredCall(only, model)
        yield* only.disconnect
        yield* only.calls.act(caller, callId, decodeAction("send_dtmf", { digits: "1" }), null)
        yield* Effect.sleep("50 millis")
        expect(applied(model, callId)).toStrictEqual(["dial"])
        const cut = yield* only.connect
        yield* Effect.sleep("100 millis")
        expect(applied(model, callId)).toStrictEqual(["dial", "media"])
        yield* cut
        const endedAt = yield* model.happens(legId, bye)
        yield* Effect.sleep("100 millis")
        expect((yield* only.calls.find(caller.tenantId, callId)).status).toBe("answered")
        const connectedAt = Date.now()
        yield* only.connect
        const call = yield* until(only, caller.tenantId, callId, ({ status }) => status === "ended")
        expect(nearer(Date.parse(call.ended_at ?? ""), endedAt, connectedAt)).toBe(endedAt)
        yield* only.kill
      }).pipe(Effect.scoped)
    )
  })
})
