import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RouteDirectory } from "../../../src/carrier/Carrier.ts"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import * as TrunkNumberPlan from "../../../src/carrier/number/TrunkNumberPlan.ts"
import { Trunks } from "../../../src/numbers/trunk/Trunk.ts"
import type { RouteId } from "../../../src/domain/Id.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"

const trunk = { name: "Trunk", host: "192.0.2.10", port: 5060, username: "u", password: "secret", isDefault: false }

/** The table of known peers as a carrier holds it. */
const listening = Effect.gen(function* () {
  const peers = PeerTable.make()
  yield* (yield* RouteDirectory).knownPeers((update) => Effect.sync(() => peers.take(update)))
  yield* until(() => peers.version() > 0)
  return peers
})

/** Waits up to twenty seconds. */
const until = (holds: () => boolean) =>
  Effect.gen(function* () {
    for (let tries = 0; !holds() && tries < 2_000; tries++) yield* Effect.sleep(10)
    expect(holds()).toBe(true)
  })

describe("connections (guide/connections.md#routes)", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("adds a trunk, found by route and by address, its password sealed at rest", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const directory = yield* RouteDirectory
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* Features.newTenant()
        const peers = yield* listening
        expect(peers.has("192.0.2.10")).toBe(false)
        expect(yield* connections.trunkAt(id, "192.0.2.10")).toBe(null)
        const added = yield* connections.addSipTrunk({ ...trunk, tenantId: id })
        expect(yield* directory.sipTrunk(added.id)).toStrictEqual({
          routeId: added.id,
          host: "192.0.2.10",
          port: 5060,
          transport: "udp",
          username: "u",
          password: "secret"
        })
        expect(peers.has("192.0.2.10")).toBe(true)
        expect(yield* connections.trunkAt(id, "192.0.2.10")).toMatchObject({ routeId: added.id })
        expect(yield* connections.resolve(id, added.id)).toStrictEqual({ routeId: added.id, adapter: "sip" })
        const [row] = yield* sql<{ readonly password: string }>`SELECT password FROM route WHERE id = ${added.id}`
        expect(row?.password ?? "").toMatch(/^v1\./)
        expect(JSON.stringify(yield* connections.find(id, added.id))).not.toContain("192.0.2.10")
      })
    )

    it.effect("keeps a number plan, which the carrier gets with the trunk, and every plan at an address once", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const directory = yield* RouteDirectory
        const host = "192.0.2.60"
        const one = yield* Features.newTenant()
        const two = yield* Features.newTenant()
        const first = yield* connections.addSipTrunk({ ...trunk, host, tenantId: one.id })
        const second = yield* connections.addSipTrunk({ ...trunk, host, tenantId: two.id })
        expect(yield* connections.plansAt(host)).toEqual([])
        const fields = { country: "AU", sends: "national" } as const
        const plan = { ...TrunkNumberPlan.none, ...fields }
        yield* connections.setNumbers(first.id, fields)
        expect(yield* directory.sipTrunk(first.id)).toMatchObject({ numbers: plan })
        expect(yield* connections.trunkAt(one.id, host)).toStrictEqual({ routeId: first.id, plan })
        expect(yield* connections.trunkAt(two.id, host)).toStrictEqual({ routeId: second.id, plan: null })
        yield* connections.setNumbers(second.id, fields)
        expect(yield* connections.plansAt(host)).toStrictEqual([plan])
        // The plan of the older trunk comes first, whichever was set first and whichever sorts first.
        for (const techPrefix of ["1", "7#"]) {
          yield* connections.setNumbers(second.id, { techPrefix })
          expect(yield* connections.plansAt(host)).toStrictEqual([plan, { ...plan, techPrefix }])
          yield* connections.setNumbers(first.id, { techPrefix: "4" })
          expect(yield* connections.plansAt(host)).toStrictEqual([
            { ...plan, techPrefix: "4" },
            { ...plan, techPrefix }
          ])
          yield* connections.setNumbers(first.id, { techPrefix: null })
        }
        yield* connections.setNumbers(second.id, null)
        expect(yield* connections.plansAt(host)).toStrictEqual([plan])
        expect(yield* directory.sipTrunk(second.id)).not.toHaveProperty("numbers")
        const refused = yield* Effect.flip(connections.setNumbers(second.id, { sends: "national" }))
        expect(refused).toMatchObject({ code: "invalid_request", message: "the national form needs a country" })
      })
    )

    it.effect("reads what it can of a number plan that another version wrote", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* Features.newTenant()
        const added = yield* connections.addSipTrunk({ ...trunk, host: "192.0.2.61", tenantId: id })
        yield* sql`UPDATE route SET number_plan = ${'{"country":"AU","later":1}'}::text::jsonb WHERE id = ${added.id}`
        expect(yield* connections.trunkAt(id, "192.0.2.61")).toStrictEqual({
          routeId: added.id,
          plan: { ...TrunkNumberPlan.none, country: "AU" }
        })
      })
    )

    it.effect("lets a new default take the place of the old one at once", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const { id } = yield* Features.newTenant()
        const before = yield* connections.resolve(id, null)
        const added = yield* connections.addSipTrunk({ ...trunk, tenantId: id, isDefault: true })
        expect((yield* connections.resolve(id, null)).routeId).toBe(added.id)
        const { count, results } = yield* connections.list(id, { limit: 20, offset: 0 })
        expect(count).toBe(2)
        expect(results.map((row) => [row.id, row.is_default])).to.have.deep.members([
          [added.id, true],
          [before.routeId, false]
        ])
      })
    )

    it.effect(
      "resolves a route id only as it is spelled: nothing else names a route, and nothing else is remembered",
      () =>
        Effect.gen(function* () {
          const connections = yield* Trunks
          const { id } = yield* Features.newTenant()
          const { routeId } = yield* connections.resolve(id, null)
          const hex = routeId.slice("svc_route_".length)
          for (const other of [`${routeId} `, `${routeId} x`, `${routeId}\n`, `svc_route_${hex.toUpperCase()}`])
            expect((yield* Effect.flip(connections.resolve(id, Ids.route(other)))).code).toBe("not_found")
          for (const other of [` ${routeId}`, routeId.toUpperCase(), ""])
            expect((yield* Effect.flip(connections.resolve(id, Ids.route(other)))).code).toBe("invalid_request")
          expect((yield* connections.resolve(id, routeId)).routeId).toBe(routeId)
        })
    )

    it.effect("knows a trunk that is given by name at the addresses of the name", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const peers = yield* listening
        const { id } = yield* Features.newTenant()
        const other = yield* Features.newTenant()
        Features.addresses.set("sip.example.net", ["198.51.100.4", "2001:db8::4"])
        const first = yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "SIP.example.net" })
        yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "sip.example.net" })
        for (const address of ["198.51.100.4", "2001:db8::4"]) {
          expect(peers.has(address)).toBe(true)
          expect(yield* connections.trunkAt(id, address)).toMatchObject({ routeId: first.id })
          expect(yield* connections.trunkAt(other.id, address)).toBe(null)
        }
        expect(peers.has("198.51.100.5")).toBe(false)
      })
    )

    it.effect("knows a trunk by its address, whatever its spelling, and takes no address that is none", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const { id } = yield* Features.newTenant()
        const added = yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "2001:DB8:0:0::44" })
        expect(yield* connections.trunkAt(id, "2001:db8::44")).toMatchObject({ routeId: added.id })
        for (const host of [":::::", "2001:db8", "1.2.3", "300.1.1.1", "[2001:db8::1]", "a b", ""])
          expect(yield* Effect.flip(connections.addSipTrunk({ ...trunk, tenantId: id, host }))).toMatchObject({
            code: "invalid_request"
          })
      })
    )

    it.effect("learns within seconds what another process changed", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const directory = yield* RouteDirectory
        const sql = yield* SqlClient.SqlClient
        const peers = yield* listening
        const { id } = yield* Features.newTenant()
        const added = yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "192.0.2.20" })
        const spare = yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "192.0.2.21" })
        expect(yield* directory.sipTrunk(added.id)).toMatchObject({ host: "192.0.2.20" })

        yield* sql`UPDATE route SET host = '192.0.2.22' WHERE id = ${added.id}`
        yield* until(() => peers.has("192.0.2.22"))
        expect(peers.has("192.0.2.20")).toBe(false)
        expect(yield* directory.sipTrunk(added.id)).toMatchObject({ host: "192.0.2.22" })
        expect(yield* connections.trunkAt(id, "192.0.2.22")).toMatchObject({ routeId: added.id })

        yield* sql`UPDATE route SET status = 'disabled' WHERE id = ${added.id}`
        yield* until(() => !peers.has("192.0.2.22"))
        yield* sql`DELETE FROM route WHERE id = ${spare.id}`
        yield* until(() => !peers.has("192.0.2.21"))
      })
    )

    it.effect("still knows an address when one of two trunks there goes", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const sql = yield* SqlClient.SqlClient
        const peers = yield* listening
        const { id } = yield* Features.newTenant()
        const first = yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "192.0.2.30" })
        yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "192.0.2.30" })
        const before = peers.version()
        yield* sql`DELETE FROM route WHERE id = ${first.id}`
        yield* connections.addSipTrunk({ ...trunk, tenantId: id, host: "192.0.2.31" })
        expect(peers.version()).toBe(before + 1)
        expect(peers.has("192.0.2.30")).toBe(true)
      })
    )

    it.effect("resolves no malformed, unknown or foreign route", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const mine = yield* Features.newTenant()
        const other = yield* Features.newTenant()
        const { routeId } = yield* connections.resolve(mine.id, null)
        const code = (id: RouteId) => Effect.map(Effect.flip(connections.resolve(other.id, id)), ({ code }) => code)
        expect(yield* code(Ids.route("svc_call_00000000000000000000000000000000"))).toBe("invalid_request")
        expect(yield* code(Ids.route(`svc_route_${"0".repeat(32)}`))).toBe("not_found")
        expect(yield* code(routeId)).toBe("not_found")
        expect((yield* Effect.flip(connections.find(other.id, routeId))).code).toBe("not_found")
      })
    )

    it.effect("refuses a trunk without a usable host, port, name or tenant", () =>
      Effect.gen(function* () {
        const connections = yield* Trunks
        const { id } = yield* Features.newTenant()
        const code = (fields: Partial<Parameters<typeof connections.addSipTrunk>[0]>) =>
          Effect.map(Effect.flip(connections.addSipTrunk({ ...trunk, tenantId: id, ...fields })), ({ code }) => code)
        for (const host of ["", "999.1.1.1", "a b", "-x.example", "sip:host", "host:5060"])
          expect(yield* code({ host }), host).toBe("invalid_request")
        for (const port of [0, 65_536, 1.5]) expect(yield* code({ port })).toBe("invalid_request")
        expect(yield* code({ name: "" })).toBe("invalid_request")
        expect(yield* code({ username: null })).toBe("invalid_request")
        expect(yield* code({ tenantId: Ids.tenant("00000000-0000-4000-8000-000000000000") })).toBe("not_found")
      })
    )
  })
})
