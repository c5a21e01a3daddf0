import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AddressId } from "../../../../src/domain/Id.ts"
import { Numbers } from "../../../../src/numbers/number/Number.ts"
import * as Ids from "../../../support/Ids.ts"
import { jsonOf, layer as world, operator, signup } from "../OperatorWorld.ts"

const phone = "+12025550160"
const request = (phoneNumber: string) => ({
  phoneNumbers: [phoneNumber],
  countryCode: "US",
  numberType: "local" as const,
  routeId: null,
  customerReference: null
})

const refusal = Effect.fn(function* (...args: ReadonlyArray<string>) {
  const { code, stderr } = yield* operator("number", ...args)
  return [code, /\(([a-z_]+)\)$/.exec(stderr)?.[1]]
})

describe("a number in an incident (guide/operation.md#keys-and-numbers)", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect(
      "is shown with its tenant, taken from it with an audit line, and can be ordered by another when it has aged",
      () =>
        Effect.gen(function* () {
          const numbers = yield* Numbers
          const sql = yield* SqlClient.SqlClient
          const owner = yield* signup("owner")
          const next = yield* signup("next")
          yield* numbers.order(owner, request(phone), null)
          expect(jsonOf(yield* operator("number", "show", phone, "--json"))).toMatchObject({
            tenant_id: owner.tenantId,
            phone_number: phone,
            status: "active"
          })
          expect(yield* numbers.callingFrom(owner.tenantId, phone)).not.toBeNull()
          const released = jsonOf(
            yield* operator("number", "release", phone, "--reason", "fraud", "--no-hold", "--json")
          )
          expect(released).toMatchObject({ tenant_id: owner.tenantId, status: "released", next_renewal_at: null })
          expect(yield* numbers.callingFrom(owner.tenantId, phone)).toBeNull()
          expect(yield* numbers.byDialled(phone)).toBeNull()
          const lines = yield* sql`
          SELECT tenant_id::text AS tenant, actor_type AS actor, action, changes FROM audit
          WHERE resource_id = ${String(released["id"])} AND action = 'number.released'`
          expect(lines).toEqual([
            {
              tenant: owner.tenantId,
              actor: "operator",
              action: "number.released",
              changes: [
                { field: "status", from: "active", to: "released" },
                { field: "reason", from: null, to: "fraud" }
              ]
            }
          ])
          // With --no-hold its former tenant may not order it, either.
          for (const tenant of [owner, next])
            expect((yield* Effect.flip(numbers.order(tenant, request(phone), null))).code).toBe("order_invalid")
          yield* sql`UPDATE phone_number SET aged_until = aged_until - interval '28 days' WHERE phone_number = ${phone}`
          yield* numbers.order(next, request(phone), null)
          expect(yield* numbers.callingFrom(next.tenantId, phone)).not.toBeNull()
        })
    )

    it.effect("is not released when nobody has it, when it is pending, or twice", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const numbers = yield* Numbers
        expect(yield* refusal("release", "+12025550199")).toEqual([1, "number_not_found"])
        expect(yield* refusal("show", "+12025550199")).toEqual([1, "number_not_found"])
        expect(yield* refusal("release", "12025550199")).toEqual([1, "invalid_request"])
        const owner = yield* signup("waiting")
        yield* numbers.order(owner, request("+12025550161"), null)
        yield* sql`UPDATE phone_number SET status = 'pending' WHERE phone_number = '+12025550161'`
        expect(yield* refusal("release", "+12025550161")).toEqual([1, "number_not_yet_active"])
        yield* sql`UPDATE phone_number SET status = 'active' WHERE phone_number = '+12025550161'`
        expect((yield* operator("number", "release", "+12025550161")).code).toBe(0)
        expect(yield* refusal("release", "+12025550161")).toEqual([1, "number_not_found"])
      })
    )

    it.effect("is held for its tenant where nothing else is said", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const owner = yield* signup("held")
        yield* numbers.order(owner, request("+12025550162"), null)
        yield* operator("number", "release", "+12025550162")
        yield* numbers.order(owner, request("+12025550162"), null)
        expect(yield* numbers.callingFrom(owner.tenantId, "+12025550162")).not.toBeNull()
      })
    )

    it.effect("rests, works again, costs another price and is ported out, each with its audit line", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const sql = yield* SqlClient.SqlClient
        const owner = yield* signup("resting")
        const number = "+12025550163"
        yield* numbers.order(owner, request(number), null)
        const done = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
          return jsonOf(yield* operator("number", ...args, "--json"))
        })
        const { id } = yield* done("show", number)
        expect(yield* done("suspend", number, "--reason", "fraud")).toMatchObject({
          tenant_id: owner.tenantId,
          suspended_at: expect.any(String)
        })
        expect(yield* numbers.callingFrom(owner.tenantId, number)).toBeNull()
        expect(yield* numbers.byDialled(number)).toMatchObject({ isSuspended: true })
        yield* done("suspend", number)
        expect(yield* done("resume", number)).toMatchObject({ suspended_at: null })
        yield* done("resume", number)
        expect(yield* numbers.callingFrom(owner.tenantId, number)).not.toBeNull()
        expect(yield* done("price", number, "250")).toMatchObject({ monthly_cost_cents: 250 })
        for (const wrong of ["-1", "1.5", "x", "1000001"])
          expect((yield* operator("number", "price", number, wrong)).code).not.toBe(0)
        expect(yield* refusal("emergency", number, "on")).toEqual([1, "conflict"])
        const address = JSON.parse(
          (yield* numbers.addAddress(
            owner,
            {
              name: "Acme",
              streetAddress: "1 Main Street",
              extendedAddress: null,
              locality: "Washington",
              administrativeArea: "DC",
              postalCode: "20500",
              countryCode: "US",
              customerReference: null
            },
            null
          )).body ?? ""
        ) as { readonly id: AddressId }
        const emergencyAddressId = address.id
        yield* numbers.update(owner, Ids.number(String(id)), { emergencyAddressId }, null)
        expect(yield* done("emergency", number, "on")).toMatchObject({
          emergency_enabled: true,
          emergency_address: { locality: "Washington" }
        })
        // A number whose address changes is no longer registered.
        yield* numbers.update(owner, Ids.number(String(id)), { emergencyAddressId: null }, null)
        expect(yield* done("show", number)).toMatchObject({ emergency_enabled: false, emergency_address_id: null })
        expect(yield* done("ported-out", number, "--reason", "port 7")).toMatchObject({
          status: "ported_out",
          next_renewal_at: null
        })
        expect(yield* refusal("show", number)).toEqual([1, "number_not_found"])
        expect((yield* Effect.flip(numbers.order(owner, request(number), null))).code).toBe("order_invalid")
        const lines = yield* sql<{ readonly action: string; readonly actor: string }>`
          SELECT action, actor_type AS actor FROM audit WHERE resource_id = ${String(id)} ORDER BY ordinal`
        expect(lines.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
          "operator number.suspended",
          "operator number.resumed",
          "operator number.price_changed",
          "api_key number.updated",
          "operator number.emergency_enabled",
          "api_key number.updated",
          "operator number.ported_out"
        ])
        for (const word of ["suspend", "resume", "ported-out", "release"])
          expect(yield* refusal(word, number)).toEqual([1, "number_not_found"])
      })
    )

    it.effect("is withdrawn from the inventory, once, with an audit line of the installation", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const withdraw = operator("numbers", "withdraw", "+12025550164", "--json")
        expect(jsonOf(yield* withdraw)).toEqual({ withdrawn: ["+12025550164"] })
        expect(jsonOf(yield* withdraw)).toEqual({ withdrawn: [] })
        const lines = yield* sql`SELECT tenant_id, changes FROM audit WHERE action = 'inventory.withdrawn'`
          .withoutTransform
        expect(lines).toEqual([
          { tenant_id: null, changes: [{ field: "phone_numbers", from: ["+12025550164"], to: null }] }
        ])
        const other = yield* signup("late")
        const order = (yield* Numbers).order(other, request("+12025550164"), null)
        expect((yield* Effect.flip(order)).code).toBe("order_invalid")
      })
    )
  })
})
