import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier, type CarrierCommand, CarrierSink } from "../../../src/carrier/Carrier.ts"
import type { CallId } from "../../../src/domain/Id.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as CarrierSample from "../../support/fake/CarrierSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"
import * as Sample from "./CallSample.ts"

const world = Calls.layer({ maxCallSecs: 3600 }).pipe(
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const number = "+12025550150"

/** Lets the database refuse or take every further input of a call. */
const refuse = Effect.fnUntraced(function* (id: CallId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    CREATE FUNCTION refuse_call() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.entity_id = '${id}' THEN RAISE EXCEPTION 'refused' USING ERRCODE = 'check_violation'; END IF;
      RETURN NEW;
    END $$`)
  yield* sql`CREATE TRIGGER refuse_call BEFORE INSERT ON journal FOR EACH ROW EXECUTE FUNCTION refuse_call()`
})
const take = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP FUNCTION refuse_call CASCADE`)

describe("A call of which nothing can be committed", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("gets its BYE, takes no place any more, and ends and is billed as soon as it can be committed", () =>
      Effect.gen(function* () {
        const calls = yield* Calls
        const accounts = yield* Accounts
        const sink = yield* CarrierSink
        const commands: Array<CarrierCommand> = []
        const adapter = CarrierSample.adapter((command) => Effect.sync(() => void commands.push(command)))
        yield* (yield* Carrier).register("simulator", adapter)
        const { caller, id: tenantId } = yield* Features.newTenant()
        const order = { phoneNumbers: [number], countryCode: "US", numberType: "local" as const }
        yield* (yield* Numbers).order(caller, { ...order, routeId: null, customerReference: null }, null)
        const placed = yield* calls.place(caller, Sample.request(number), null)
        const { id } = JSON.parse(placed.body ?? "") as { readonly id: CallId }
        const legId = commands[0]?.legId ?? Ids.leg("")
        const tell = CarrierSample.numbered()
        yield* sink.tell(id, tell(legId, Date.now(), { type: "answered", resume: null }))
        const live = Effect.map(accounts.overview(tenantId), ({ tally }) => tally.liveCalls)
        expect(yield* live).toBe(1)

        yield* refuse(id)
        yield* Effect.ignore(calls.act(caller, id, { verb: "hangup", body: {} }, null))
        while (!commands.some(({ type }) => type === "hangup")) yield* Effect.sleep("5 millis")
        // Its end is tried again and again, and another request finds the place free meanwhile.
        while ((yield* live) > 0) yield* Effect.sleep("5 millis")
        yield* accounts.released(tenantId, id)
        expect(yield* live).toBe(0)
        expect((yield* calls.find(tenantId, id)).ended_at).toBe(null)

        yield* take
        while ((yield* calls.find(tenantId, id)).ended_at === null) yield* Effect.sleep("5 millis")
        const ended = yield* calls.find(tenantId, id)
        expect(ended.rating_status).toBe("rated")
        expect(yield* live).toBe(0)
        while ((yield* calls.liveCount) > 0) yield* Effect.sleep("5 millis")
      })
    )

    it.effect("is not dialled again where nothing could be committed after its dial", () =>
      Effect.gen(function* () {
        const calls = yield* Calls
        const commands: Array<CarrierCommand> = []
        const adapter = CarrierSample.adapter((command) => Effect.sync(() => void commands.push(command)))
        yield* (yield* Carrier).register("simulator", adapter)
        const { caller, id: tenantId } = yield* Features.newTenant()
        const ringing = "+12025550151"
        const order = { phoneNumbers: [ringing], countryCode: "US", numberType: "local" as const }
        yield* (yield* Numbers).order(caller, { ...order, routeId: null, customerReference: null }, null)
        const placed = yield* calls.place(caller, Sample.request(ringing), null)
        const { id } = JSON.parse(placed.body ?? "") as { readonly id: CallId }

        yield* refuse(id)
        yield* Effect.ignore(calls.act(caller, id, { verb: "hangup", body: {} }, null))
        while (!commands.some(({ type }) => type === "hangup")) yield* Effect.sleep("5 millis")
        yield* take
        while ((yield* calls.find(tenantId, id)).ended_at === null) yield* Effect.sleep("5 millis")
        expect(commands.filter(({ type }) => type === "dial")).toHaveLength(1)
        while ((yield* calls.liveCount) > 0) yield* Effect.sleep("5 millis")
      })
    )
  })
})
