import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
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

describe("An ended call whose row cannot be read any more", () => {
  layer(world, { excludeTestServices: true })((it) => {
    // Such a call once answered 500 as long as the row existed.
    it.effect("is shown as far as its row and its journal tell, and refuses actions as ended", () =>
      Effect.gen(function* () {
        const calls = yield* Calls
        const sql = yield* SqlClient.SqlClient
        const sink = yield* CarrierSink
        const commands: Array<CarrierCommand> = []
        const adapter = CarrierSample.adapter((command) => Effect.sync(() => void commands.push(command)))
        yield* (yield* Carrier).register("simulator", adapter)
        const { caller } = yield* Features.newTenant()
        const order = { phoneNumbers: [number], countryCode: "US", numberType: "local" as const }
        yield* (yield* Numbers).order(caller, { ...order, routeId: null, customerReference: null }, null)
        const placed = yield* calls.place(caller, Sample.request(number), null)
        const { id } = JSON.parse(placed.body ?? "") as { readonly id: CallId }
        const bye = { type: "ended", cause: "hangup", sipStatus: null, by: "far" } as const
        yield* sink.tell(id, CarrierSample.numbered()(commands[0]?.legId ?? Ids.leg(""), 0, bye))
        while ((yield* calls.liveCount) > 0) yield* Effect.sleep("5 millis")
        const whole = yield* calls.find(caller.tenantId, id)
        expect(whole.rating_status).toBe("rated")
        yield* sql`UPDATE entity SET state = state - 'meters' - 'from' WHERE id = ${id}`
        expect(yield* calls.find(caller.tenantId, id)).toStrictEqual(whole)
        const refused = yield* Effect.flip(calls.act(caller, id, { verb: "hangup", body: {} }, null))
        expect(refused.code).toBe("call_already_ended")
      })
    )
  })
})
